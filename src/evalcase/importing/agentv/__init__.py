"""AgentV: its eval files, from the first to those with `prompts` and `vars`."""
