"""What a target makes of a question: what it shows of it, sends of it, and knows it again by."""
