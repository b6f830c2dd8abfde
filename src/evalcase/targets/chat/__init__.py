"""What targets that speak to a chat API share."""
