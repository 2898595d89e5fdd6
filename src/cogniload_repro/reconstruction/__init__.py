"""From the printed tables back to data: sufficient statistics, counts by cell, worded responses."""
