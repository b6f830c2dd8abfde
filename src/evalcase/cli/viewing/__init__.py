"""What `evalcase view` serves, to whom, and how."""
