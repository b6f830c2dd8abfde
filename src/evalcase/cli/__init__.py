"""The `evalcase` command: one file per subcommand, each parses, calls and prints."""
