"""The JSON Schema of what people write, for editors: one part of it in each file."""
