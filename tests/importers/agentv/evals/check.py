"""Stands for the program that a suite beside it names: nobody starts it."""
