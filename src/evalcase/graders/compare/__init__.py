"""What graders that compare share."""
