"""The nouns: plain values without I/O, understood by every stage."""
