"""What an editor shows of a file while somebody writes it: texts and positions in, values out.

Nothing here knows a protocol, waits, writes, or runs code of the project.
"""
