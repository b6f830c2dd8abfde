"""What a grader mentions that has to be there: files, functions, programs, and whom it asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from evalcase.resolve.findings import Findings
from evalcase.resolve.written_grader import WrittenGrader
from evalcase.system.programs import find_script

if TYPE_CHECKING:
    from evalcase.model.finding import KeyPath
    from evalcase.model.grader_options import DeclaredGrader
    from evalcase.model.known import What


class Mention(NamedTuple):
    """Code, or a program, that a grader names."""

    what: What
    name: str
    path: KeyPath
    """Seen from the grader."""


def find_named_code(declared: DeclaredGrader, values: Mapping[str, Any]) -> Iterator[Mention]:
    """The functions, programs and scripts that options name, whoever brings the grader. Values
    that are wrong name nothing."""
    for name in declared.code:
        value = values.get(name)
        if type(value) is str and not any(declared.options[name].shape.faults(value, ("",))):
            yield Mention("code", value, (name,))
    for name in declared.programs:
        argv = values.get(name)
        if isinstance(argv, list | tuple) and argv and type(argv[0]) is str and argv[0]:
            yield Mention("program", argv[0], (name, 0))
            script = find_script(argv)
            if script is not None:
                yield Mention("script", script, (name, 1))


def mention_files(written: WrittenGrader, declared: DeclaredGrader, findings: Findings) -> None:
    """Note the files of the project that it names, in options of their own or before a `:`."""
    for name, holds in declared.files.items():
        if type(written.options.get(name)) is str:
            place = written.place((name,))
            findings.add_file(written.options[name], place, from_root=True, holds=holds)
    for what, name, path in find_named_code(declared, written.options):
        if what == "code" and name.startswith("./") and ".py:" in name:
            file = name.rpartition(":")[0]
            findings.add_file(file, written.place(path), from_root=True)
        findings.mention(what, name, written.place(path))
        if what == "code" and declared.kind.name == "python":
            arguments = written.options.get("arguments")
            if arguments is None or type(arguments) is dict:
                findings.mention_call(name, arguments or (), written.place(path))


def mention_targets(written: WrittenGrader, declared: DeclaredGrader, findings: Findings) -> None:
    """Note whom a grader will ask: by name, or, where a judge names nobody, the configured one."""
    named = declared.named_targets(written.options)
    for path, name in named:
        findings.mention("asked", name, written.place(path))
    if declared.kind.judges and not named:
        findings.mention("judge", written.name, *written.finding_at())
