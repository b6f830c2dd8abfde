"""What programs read: one writer for each format."""
