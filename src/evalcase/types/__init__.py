"""The nouns of evalcase: typed, frozen values without I/O."""
