"""Secrets as a table: forms that a value takes × places where it turns up.

One run for each form has it in every place at once. Then the record, the cache and all that the
commands print are searched for what would give the value away.
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from tests.faults.leaky import PLACES, UNSEEN, Form, leaky
from tests.run.project import Project

ODD = 'sk-Live_"7f3A/9c+51=é d2E8&<0Zq>\\'
LONG = "sk-proj-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"
LINES = "-----BEGIN KEY-----\nMIIBVwIBADANBgkqhkiG\n9w0BAQEFAASCAUEwggE9\n-----END KEY-----"
PIN = "98765432"
LOADED = f"os.environ['TOKEN'] = {LONG!r}"
REMOVED = "os.environ.pop('TOKEN', None)"
CHANGED = "os.environ['TOKEN'] = 'not it at all'"


def windows(text: str, size: int = 12) -> list[str]:
    return [text[at : at + size] for at in range(len(text) - size + 1)]


def whole(form: str, around: str = "{}", secret: str = ODD, **more: Any) -> Form:
    return Form(secret, around.replace("{}", form), windows(form), **more)


def in_base64(before: str, encode: Callable[[bytes], bytes] = base64.b64encode) -> Form:
    text = encode(f"{before}{LONG}{before}".encode()).decode()
    return Form(LONG, text, windows(text[8:-8]))


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


_, FIRST_LINE, SECOND_LINE, _ = LINES.split("\n")

FORMS = {
    "whole": whole(ODD),
    "within a text": whole(ODD, "Authorization: Bearer {}; and more"),
    "cut by excerpts": Form(LONG, f"Authorization: Bearer {LONG}", windows(LONG, 8)),
    "cut by longer excerpts": Form(
        LONG, f"{'x' * 1970} {LONG} {'x' * 1920} {LONG}", windows(LONG, 8), is_cut_off=True
    ),
    "number": Form(PIN, int(PIN), [PIN]),
    "number with a point": Form("98765.4321", 98765.4321, ["98765.4321"]),
    "number as text": Form(PIN, PIN, [PIN]),
    "JSON": whole(in_json(ODD), '{"key": "{}"}'),
    "URL": whole(quote(ODD, safe=""), "https://example.invalid/?key={}"),
    "form of a page": whole(quote_plus(ODD), "key={}&more=1"),
    "base64": in_base64(""),
    "base64, one on": in_base64("u"),
    "base64, two on": in_base64("us"),
    "base64 for URLs": in_base64("user:", base64.urlsafe_b64encode),
    "hexadecimal": whole(ODD.encode().hex()),
    "key of a mapping": whole(ODD)._replace(planted={ODD: {"x": 1}}),
    "several lines": Form(LINES, f"{LINES}\n", windows(FIRST_LINE) + windows(SECOND_LINE)),
    "one of several lines": Form(LINES, f"line 2: {SECOND_LINE}", windows(SECOND_LINE)),
    "loaded by the agent": Form(LONG, LONG, windows(LONG, 8), LOADED, is_given=False),
    "removed by the agent": Form(LONG, LONG, windows(LONG, 8), REMOVED),
    "changed by the agent": Form(LONG, LONG, windows(LONG, 8), CHANGED),
}

COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "--concurrency", "1"),
    "report as jsonl": ("report", "--format", "jsonl"),
}
FURTHER_COMMANDS: dict[str, tuple[str, ...]] = {
    "resume": ("resume", "latest", "--retry-errored"),
    "run --json": ("run", "--json", "--cache"),
    "report": ("report",),
    "report of an answer": ("report", "--case", "answer text"),
    "report of an error": ("report", "--case", "exception"),
    "list": ("list",),
    "dry run": ("run", "--dry-run"),
}
"""What these print comes from the record, too: some forms are enough."""


def outputs(
    project: Project, env: dict[str, str], commands: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str, str]]:
    """Everything that is written or printed, by what it is."""
    for name, arguments in commands.items():
        done = project.run(*arguments, env=env)
        yield f"stdout of {name}", done.out
        yield f"stderr of {name}", done.err
    for path in sorted((project.path / ".evalcase").rglob("*")):
        if path.is_file():
            yield str(path), path.read_text()


def leaks(seen: dict[str, str], traces: list[str]) -> list[tuple[str, str]]:
    """What is where it must not be, with what is around it."""
    return [
        (place, text[max(0, text.index(trace) - 200) :][:400])
        for place, text in seen.items()
        for trace in traces
        if trace in text
    ]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_fault_29_no_form_of_a_secret_is_left_in_any_place(project: Project, form: Form) -> None:
    with leaky(project, form) as env:
        seen = dict(outputs(project, env, COMMANDS))
    assert leaks(seen, form.traces) == []
    rows = {row["case"]: json.dumps(row) for row in project.rows()}
    assert rows.keys() == PLACES
    # It was there, and was taken out.
    places = {"answer text", "exception"} if form.is_cut_off else PLACES - UNSEEN
    assert {place for place in places if "***TOKEN***" not in rows[place]} == set()
    assert form.is_cut_off or "***TOKEN***" in seen["stdout of run"]
    assert "tear-down failed: ValueError" in seen["stderr of run"]


@pytest.mark.parametrize("name", ["within a text", "cut by excerpts", "number"])
def test_fault_29_no_command_shows_a_secret(project: Project, name: str) -> None:
    with leaky(project, FORMS[name]) as env:
        seen = dict(outputs(project, env, COMMANDS | FURTHER_COMMANDS))
    assert leaks(seen, FORMS[name].traces) == []
    for command in ("report", "report of an answer", "report of an error", "report as jsonl"):
        assert "***TOKEN***" in seen[f"stdout of {command}"]
