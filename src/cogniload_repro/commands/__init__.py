"""The commands behind `cogniload`, one module a group."""
