"""One file for each tool: its cases to ours. What they share is above them."""
