"""Suites from eval files of other tools, from tables and from traces."""
