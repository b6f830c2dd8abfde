"""What the verdicts of a run rest on beside its answers: `run.json` has it for the beginning, and a
row of the journal for each later time at which all of it was graded by something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalcase.model.codec import decode_object, encode_after
from evalcase.model.value import Value
from evalcase.record.about import RunAbout


class Basis(Value, frozen=True):
    """Files and targets, by their names, with the hash of each."""

    suites: dict[str, str]
    dealt: str | None = None
    """What tells the cases that shards were dealt from apart from others."""
    rests_on: dict[str, str] | None = None
    """What graders are made of, and whom they ask; None where they rest on nothing."""

    def row(self) -> dict[str, Any]:
        return encode_after({"type": "basis"}, self)


def decode_basis(row: Mapping[str, Any]) -> Basis:
    """The basis in a row; ValueError if there can be none."""
    return decode_object(Basis, {name: row[name] for name in row if name != "type"})


def basis_of_run(about: RunAbout) -> Basis:
    """What verdicts rested on when the run was begun."""
    return Basis(about.suites, about.dealt, about.rests_on)
