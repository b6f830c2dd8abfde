"""What targets that start programs share."""
