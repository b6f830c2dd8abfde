"""What a grader mentions that has to be there: files, functions, programs, and whom it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalcase.resolve.findings import Findings
from evalcase.resolve.written_grader import WrittenGrader
from evalcase.system.programs import find_script

if TYPE_CHECKING:
    from evalcase.model.grader_options import DeclaredGrader


def mention_files(written: WrittenGrader, declared: DeclaredGrader, findings: Findings) -> None:
    """Note the files of the project that it names, in options of their own or before a `:`."""
    for name, holds in declared.files.items():
        if type(written.options.get(name)) is str:
            place = written.place((name,))
            findings.add_file(written.options[name], place, from_root=True, holds=holds)
    code = written.options.get(declared.in_name or "")
    if type(code) is str and code.startswith("./") and ".py:" in code:
        file = code.rpartition(":")[0]
        findings.add_file(file, written.place((declared.in_name or "",)), from_root=True)
    if type(code) is str and declared.kind.name == "python":
        place, arguments = (
            written.place((declared.in_name or "",)),
            written.options.get("arguments"),
        )
        findings.mention("code", code, place)
        if arguments is None or type(arguments) is dict:
            findings.mention_call(code, arguments or (), place)
    if declared.kind.name == "script":
        _mention_program(written.options.get("value"), written, findings)


def _mention_program(argv: object, written: WrittenGrader, findings: Findings) -> None:
    if type(argv) is not list or not argv or type(argv[0]) is not str or not argv[0]:
        return
    findings.mention("program", argv[0], written.place(("value", 0)))
    script = find_script(argv)
    if script is not None:
        findings.mention("script", script, written.place(("value", 1)))


def mention_targets(written: WrittenGrader, declared: DeclaredGrader, findings: Findings) -> None:
    """Note whom a grader will ask: by name, or, where a judge names nobody, the configured one."""
    named = declared.named_targets(written.options)
    for path, name in named:
        findings.mention("asked", name, written.place(path))
    if declared.kind.judges and not named:
        findings.mention("judge", written.name, *written.finding_at())
