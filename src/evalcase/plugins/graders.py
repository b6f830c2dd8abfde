"""The graders of a run, each made once, however many cases say the same of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalcase.errors import ConfigError
from evalcase.grade.apply import needs_expected
from evalcase.graders.expected import ExpectedGrader
from evalcase.model.case import Case
from evalcase.model.grader import NamedGrader
from evalcase.plugins.configure import configure
from evalcase.plugins.registry import find
from evalcase.text.quick_json import compact_encoder


class Graders:
    """Gives the graders of a case. `given` are those that a program adds to every case."""

    def __init__(self, given: Iterable[NamedGrader] = (), *, no_exec: bool = False) -> None:
        self._given = tuple(given)
        self._no_exec = no_exec
        self._expected = NamedGrader("expected", ExpectedGrader())
        self._only_expected = (self._expected,)
        self._made: dict[str, tuple[NamedGrader, ...]] = {}
        self._prints: dict[NamedGrader, str] = {}

    def of(self, case: Case) -> Sequence[NamedGrader]:
        """The graders of a case, the built-in comparison added where nothing else compares."""
        data = case.data
        specs = data.get("graders")
        graders = self._given
        if not specs and not graders and "expected_output" in data and not case.needs_judge:
            return self._only_expected  # most cases are like this
        if specs:
            text = _to_json(specs)
            made = self._made.get(text)
            if made is None:
                made = self._made[text] = self._make(specs)
            graders = (*made, *graders)
        return (*graders, self._expected) if needs_expected(case, graders) else graders

    def prints_of(self, graders: Sequence[NamedGrader]) -> list[str]:
        """The fingerprints of those graders that have one."""
        if graders is self._only_expected:
            return []
        return [found for named in graders if (found := self._print(named))]

    def _print(self, named: NamedGrader) -> str:
        known = self._prints.get(named)
        if known is None:
            known = self._prints[named] = named.grader.fingerprint()
        return known

    def _make(self, specs: Iterable[dict[str, object]]) -> tuple[NamedGrader, ...]:
        """Make them, and have them ready: nobody wants to know after the first answers that a
        grader can't be used."""
        made = tuple([_make_one(spec) for spec in specs])
        for named in made:
            if named.grader.kind.runs_code and self._no_exec:
                raise ConfigError(f"grader `{named.name}` would run code (--no-exec)")
            named.grader.load()
        return made


def _make_one(spec: dict[str, object]) -> NamedGrader:
    kind, _, value = str(spec["type"]).partition(":")
    options = {**spec, "type": kind, "value": value} if value else spec
    if kind == "python" and spec.get("name") is None:
        # There may be several, and a person wants to know which of them failed.
        options = {**options, "name": f"python:{options.get('value')}"}
    return configure(find("graders", kind), options)  # type: ignore[arg-type]


_to_json = compact_encoder()
