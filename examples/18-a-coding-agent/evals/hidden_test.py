import sys

from cart import total

found = total([5, 7], discount=2)
if found != 10:
    sys.exit(f"total([5, 7], discount=2) is {found}, expected 10")
