"""Text to cases and back: reading, positions, short forms, schema, migration, writing."""
