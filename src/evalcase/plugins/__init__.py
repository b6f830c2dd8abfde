"""Names to targets and graders: the registry, and how each is made of its options."""
