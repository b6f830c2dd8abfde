"""How a judge is asked and understood: protocol `judge/1`."""
