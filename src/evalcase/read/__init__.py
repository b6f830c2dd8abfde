"""Bytes in, documents out: values, and the place of every one of them when asked."""
