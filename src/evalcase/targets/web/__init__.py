"""What targets that speak HTTP share."""
