"""A run from beginning to end: prepared as a plan, carried out trial by trial, concluded."""
