"""What a script is given, and how its reply is read."""
