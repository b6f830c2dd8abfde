"""Regular expressions that come from anyone, searched for without holding up anybody else."""
