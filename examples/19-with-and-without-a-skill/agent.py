"""A stand-in for a coding agent: it sums a column, and knows of quoted commas only by a skill.
It prints what Claude Code prints."""

import csv
import json
import sys
from pathlib import Path


def say(*blocks, kind="assistant"):
    message = {"role": kind, "content": [*blocks]}
    print(json.dumps({"type": kind, "parent_tool_use_id": None, "message": message}))


def use(number, tool, **given):
    id = f"t{number}"
    say({"type": "tool_use", "id": id, "name": tool, "input": given})
    say({"type": "tool_result", "tool_use_id": id, "content": "ok"}, kind="user")


task = sys.stdin.read()
name = next(word for word in task.split() if word.endswith(".csv"))
lines = Path(name).read_text().splitlines()
if Path(".claude/skills/csv/SKILL.md").exists():
    use(1, "Skill", skill="csv")
    rows = list(csv.reader(lines))
else:
    rows = [line.split(",") for line in lines]
total = sum(int(row[1]) for row in rows[1:] if row[1].isdigit())
Path("total.txt").write_text(f"{total}\n")
use(2, "Write", file_path=str(Path("total.txt").absolute()), content=f"{total}\n")
say({"type": "text", "text": f"The total is {total}."})
print(json.dumps({"type": "result", "subtype": "success", "result": f"The total is {total}."}))
