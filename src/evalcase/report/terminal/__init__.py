"""What a person sees on a terminal."""
