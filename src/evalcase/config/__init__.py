"""The project: evalcase.toml, options of a run, and names to targets and graders."""
