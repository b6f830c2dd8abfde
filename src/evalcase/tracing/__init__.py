"""Traces of agents, as OpenTelemetry writes them: what was asked, called, answered and used."""
