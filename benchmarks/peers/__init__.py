"""The same work done by other tools, one small program each, run by an interpreter that has them.

usage: python FILE CASES AT_ONCE SLEEP_S; prints how long the run took and how many cases passed
"""
