"""The commands behind `cogniload`, one module per group."""
