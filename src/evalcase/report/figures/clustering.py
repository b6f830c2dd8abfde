"""Which cases tend to come out alike: those that have the same value at a path, such as a topic."""

from __future__ import annotations

import json

from evalcase.types.case import Case
from evalcase.types.result import Result
from evalcase.util.json import JsonPath, MissingError


class Clustering:
    """Finds the cluster of a case. One that has nothing at the path is a cluster of its own."""

    def __init__(self, path: str) -> None:
        """Raise ValueError where it is no path."""
        self.path = path
        self.alone: set[str] = set()
        """Those cases."""
        self.found = False
        """Whether some case has a value there."""
        self._path = JsonPath(path)

    def find(self, result: Result, case: Case | None) -> str:
        try:
            value = self._path.find(case._data if case is not None else {})
        except MissingError:
            value = None
        if value is None:
            name = json.dumps([result.key.suite, result.key.case])
            self.alone.add(name)
            # A value never looks so: its text has no blank at its beginning.
            return f" {name}"
        self.found = True
        return json.dumps(value, sort_keys=True)
