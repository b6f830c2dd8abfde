"""Which trials have a result, held in little memory: resume asks this of a million cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from evalcase.model.result import Verdict
from evalcase.model.trial import TrialKey

Outcome = tuple[Verdict, str]
"""A verdict, and the hash of the case it was given for."""


class Finished(Mapping[TrialKey, Outcome]):
    """Trials by key. Only case ids and hashes are kept for each, all else once for many."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str, int], dict[str, str]] = {}

    def add(self, key: TrialKey, verdict: Verdict, case_hash: str) -> None:
        group = self._groups.setdefault((key.suite, key.target, key.repeat), {})
        group[key.case] = f"{verdict}:{case_hash}"

    def __getitem__(self, key: TrialKey) -> Outcome:
        verdict, _, case_hash = self._groups[key.suite, key.target, key.repeat][key.case].partition(
            ":"
        )
        return cast("Verdict", verdict), case_hash

    def __iter__(self) -> Iterator[TrialKey]:
        for (suite, target, repeat), cases in self._groups.items():
            for case in cases:
                yield TrialKey(suite, case, target, repeat)

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))
