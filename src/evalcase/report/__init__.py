"""Values in, text for people and machines out."""
