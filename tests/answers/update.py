"""`python -m tests.answers.update` measures how each answer is read, and writes `reads` anew."""

import tempfile
from collections import Counter
from pathlib import Path

from tests.answers.reading import measure
from tests.answers.table import TABLE, VIAS, read_table


def main() -> None:
    _, rows = read_table()
    levels: dict[str, dict[str, str]] = {row.file: {} for row in rows}
    for via in VIAS:
        with tempfile.TemporaryDirectory() as folder:
            for file, (level, why) in measure(rows, via, Path(folder)).items():
                levels[file][via] = level
                if level != "all":
                    print(f"{level:8} {file} by {via}: {why[:200]}")  # noqa: T201 - its purpose
    _write(levels)
    print(dict(Counter(level for by in levels.values() for level in by.values())))  # noqa: T201


def _write(levels: dict[str, dict[str, str]]) -> None:
    """Change nothing else in the table, which people write."""
    head, *rows = TABLE.read_text("utf-8").split("\n- file: ")
    written = [head]
    for row in rows:
        lines = row.rstrip("\n").split("\n")
        less = {via: level for via, level in levels[lines[0]].items() if level != "all"}
        lines = [line for line in lines if not line.startswith("  reads: ")]
        if less:
            lines.append(f"  reads: {{{', '.join(f'{via}: {less[via]}' for via in less)}}}")
        written.append("\n".join(lines))
    TABLE.write_text("\n- file: ".join(written) + "\n", "utf-8")


if __name__ == "__main__":
    main()
