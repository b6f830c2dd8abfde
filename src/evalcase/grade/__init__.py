"""Answers in, grades and verdicts out."""
