"""Statistics in closed form: intervals, paired tests, sequential tests, agreement."""
