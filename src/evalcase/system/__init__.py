"""Files, threads, processes and imports: what touches the machine, under all stages."""
