"""Answers that are kept in files, and how they are found again."""
