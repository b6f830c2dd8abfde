"""promptfoo: prompts, tests and assertions to cases, providers to targets."""
