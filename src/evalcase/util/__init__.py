"""Small tools that every package may use: JSON, paths into values, secrets, texts."""
