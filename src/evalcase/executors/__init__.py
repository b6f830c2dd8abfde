"""Trials answered outside the process of the run: in processes of this machine, or by Ray."""
