"""Editor support: completion, hover, definitions, quick fixes, verdicts, and the language server.

It reads files and records. It runs no code of the project and writes nothing.
"""
