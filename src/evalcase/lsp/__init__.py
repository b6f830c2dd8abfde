"""The language server: what `editor` finds out, told to editors by their protocol.

Only this package knows pygls, which is an extra.
"""
