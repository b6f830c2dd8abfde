import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import ConfigError
from evalcase.report.labels import Label, append_label, read_labels
from tests.for_each import for_each

ONE: dict[str, Any] = {
    "suite": "s.eval.yaml", "case": "é\ud800", "target": "agent", "answer_hash": "0" * 16,
    "passed": True, "by": "ada",
}  # fmt: skip


def test_what_was_appended_is_read_again(tmp_path: Path) -> None:
    path = str(tmp_path / "labels.jsonl")
    labels = [
        Label(**ONE),
        Label(**{**ONE, "passed": False}, repeat=2, criterion="polite", drawn_from=0.25),
    ]
    for label in labels:
        append_label(path, label)
    assert read_labels(path) == labels


def test_a_label_is_synced_before_the_next_is_asked_for(tmp_path: Path) -> None:
    from evalcase.util.files import Disk

    synced: list[int] = []

    class Watched(Disk):
        def fsync(self, fd: int) -> None:
            synced.append(os.fstat(fd).st_size)

    path = tmp_path / "labels.jsonl"
    append_label(str(path), Label(**ONE), Watched())
    assert synced == [path.stat().st_size]


@for_each(
    ("line", "said"),
    [
        ("{", "labels.jsonl:2: this is not a label"),
        ("[]", "it is not an object"),
        (json.dumps({**ONE, "passed": "yes"}), "`passed`"),
        (json.dumps({**ONE, "answer": "x"}), "unknown field `answer`"),
        (json.dumps({"suite": "s"}), "missing required field"),
        (json.dumps({**ONE, "drawn_from": "x"}), "`drawn_from`"),
        (json.dumps({**ONE, "drawn_from": 0}), "`drawn_from`: Expected `float` > 0.0"),
    ],
)
def test_what_is_no_label_is_said_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{json.dumps(ONE)}\n{line}\n")
    with pytest.raises(ConfigError, match=r"labels\.jsonl:2: ") as raised:
        read_labels(str(path))
    assert said in str(raised.value)


def test_a_pipe_is_neither_waited_for_nor_written_to(tmp_path: Path) -> None:
    path = str(tmp_path / "labels.jsonl")
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="not a regular file"):
        read_labels(path)
    with pytest.raises(ConfigError, match="can't be written"):
        append_label(path, Label(**ONE))
