"""A stand-in for a coding agent: it reads its task from stdin and edits files where it stands."""

import sys
from pathlib import Path

task = sys.stdin.read()
cart = Path("cart.py")
if "once" in task:
    cart.write_text(cart.read_text().replace("discount * len(prices)", "discount"))
    print("The discount is taken once now.")
else:
    cart.write_text(cart.read_text() + "\n\nVERSION = 2\n")
    Path("notes.txt").write_text("I was here.\n")
    print("Done.")
