"""A program that a provider names."""
