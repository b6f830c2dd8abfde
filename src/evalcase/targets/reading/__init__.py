"""Values, bytes and messages to answers: the one rule for what targets give back."""
