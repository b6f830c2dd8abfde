"""Results of every sort, and the pictures that the golden files keep of them.

    python -m tests.report.terminal.endings

writes the pictures anew; then read the diff.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evalcase.model.answer import Answer, Usage
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.result import Result, Verdict
from evalcase.model.totals import Totals
from evalcase.model.trial import TrialKey
from evalcase.record.tally import Tally
from evalcase.report.terminal.run_list import Entry, list_lines
from evalcase.report.terminal.statistics import gather
from evalcase.report.terminal.style import ANSI, PLAIN, Style
from evalcase.report.terminal.summary import Ending, summary_lines

FOLDER = Path(__file__).parent / "golden"
WIDTHS = (40, 80, 120)
STYLES = {"plain": PLAIN, "colour": ANSI}
LETTER = """Dear customer,

thank you for your message. It has been given the number 4711.
Your order A-1042 was sent on Monday.
It will arrive within three days.

Kind regards,
the shop"""


def result(case: str, verdict: Verdict, *grades: Grade, **changes: Any) -> Result:
    answer = Answer(Answer.of_text("ok").messages, Usage(1200, 80), 0.0031)
    values: dict[str, Any] = {
        "key": TrialKey("evals/shop.eval.yaml", case, "agent", 1), "question_hash": "0" * 16,
        "verdict": verdict, "answer": answer, "grades": grades, "duration_s": 0.5,
    }  # fmt: skip
    return Result(**values | changes)


def sides(expected: str, got: str, reason: str, grader: str = "expected") -> Grade:
    return Grade(grader, 0.0, False, reason, {"expected": expected, "got": got})


def broken(case: str, kind: str, message: str, details: dict[str, Any], **more: Any) -> Result:
    failure = Failure(kind, message, details)  # type: ignore[arg-type]
    return result(case, "errored", answer=None, failure=failure, **more)


TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/usr/lib/python3.11/asyncio/runners.py", line 118, in run',
    "    return self._loop.run_until_complete(task)",
    '  File "agents/shop.py", line 31, in postage',
    "    return round(4 + 2 * WEIGHTS_KG[item], 2)",
    "                         ~~~~~~~~~~^^^^^^",
    '  File "/venv/lib/python3.11/site-packages/weights/table.py", line 7, in __getitem__',
    "    raise KeyError(name)",
    "KeyError: 'lamp'",
]


def everything() -> list[Result]:
    """A result of each sort."""
    return [
        result("opening-hours", "passed", duration_s=0.02),
        result("postage", "failed", sides(
            "That is 7.00 euros.", "That is 6.40 euros.",
            'expected "That is 7.00 euros.", got "That is 6.40 euros."')),
        result("letter", "failed", sides(
            LETTER, LETTER.replace("three", "four") + "\nPS: \x1b[2JHello!",
            'line 5, character 24: expected …"three", got …"four"')),
        result("triage", "failed", sides(
            '{\n  "riskLevel": "High",\n  "labels": [\n    "billing"\n  ]\n}',
            '{\n  "riskLevel": "Low",\n  "labels": []\n}',
            '$.riskLevel: expected "High", got "Low"; $.labels: expected 1 item, got 0')),
        result("calls", "failed", sides(
            'find_order(order="A-1042")\nrefund(order="A-1042", euros=7.0)',
            'find_order(order="A-1042")\nrefund(order="A-1043", euros=7.0)',
            "1 of 2 steps right (1/2 = 0.50); 1 of 2 expected calls made in order")),
        result("long", "failed", sides(
            "It is said that " * 40 + "Lima is the capital. " + "And so on. " * 30,
            "It is said that " * 40 + "Oslo is the capital. " + "And so on. " * 30,
            'line 1, character 641: expected …"Lima", got …"Oslo"')),
        result("spaces", "failed", sides(
            "a b", "a  b", 'expected "a b", got "a  b" (only white space differs)')),
        result("silent", "failed", sides("Hello!", "", 'expected "Hello!", got an empty text')),
        result("日本語", "failed", sides(
            "東京です", "大阪です", 'expected "東京です", got "大阪です"')),
        result("own", "failed", Grade("python:agents:is_short", 0.2, False, "48 words")),
        result("nothing", "ungraded"),
        broken("lamp", "exception", "KeyError: 'lamp'", {"traceback": TRACEBACK}),
        broken("lamp-2", "exception", "KeyError: 'lamp'", {"traceback": TRACEBACK}),
        broken("tool", "exit", "the program ended with exit code 3: no such file",
               {"exit_code": 3, "stderr": "one\ntwo\nthree\nfour\nno such file\n"}),
        broken("busy", "http", "503 Service Unavailable",
               {"status": 503, "body": '{"error": "overloaded\\u001b"}'}, attempts=3),
        broken("slow", "timeout", "no answer within 120 s", {}, duration_s=120.0),
        result("judged", "errored", Grade("judge", None, False, "no judge is configured",
               failure=Failure("grader", "no judge is configured"))),
        result("off", "skipped", answer=None, failure=Failure("stopped", "not today")),
    ]  # fmt: skip


def several() -> list[Result]:
    """Two targets, and cases that are repeated."""
    verdicts: dict[str, list[Verdict]] = {
        "steady": ["passed"] * 3, "shaky": ["passed", "failed", "failed"], "never": ["failed"] * 3
    }  # fmt: skip
    wrong = sides("Lima", "Oslo", 'expected "Lima", got "Oslo"')
    good: list[Verdict] = ["passed"] * 3
    return [
        result(case, verdict, *([wrong] if verdict == "failed" else []),
               key=TrialKey("quiz.eval.jsonl", case, target, repeat))
        for target in ("gpt", "command:python3 a-program-with-a-long-name.py")
        for case, row in verdicts.items()
        for repeat, verdict in enumerate(row if target == "gpt" else good, 1)
    ]  # fmt: skip


def hopeless() -> list[Result]:
    """Very many failures, and an error that all cases have in common."""
    wrong = sides("Lima", "Oslo", 'expected "Lima", got "Oslo"')
    keyless = {"status": 401, "body": '{"error": "invalid api key"}'}
    return [
        *(result(f"case-{number}", "failed", wrong) for number in range(1000)),
        *(broken(f"late-{number}", "http", "401 Unauthorized", keyless) for number in range(300)),
    ]


def count(results: list[Result]) -> Totals:
    tally = Tally()
    for each in results:
        tally.add(each)
    return tally.totals()


def summary(results: list[Result], width: int, style: Style, **changes: Any) -> list[str]:
    ending = Ending(count(results), 12.34, ".evalcase/runs/20260301-090000-a1b2c3", **changes)
    return list(summary_lines(gather(lambda: results, style, width), ending, width, style))


RESUME = "evalcase resume 20260301-090000-a1b2c3 --retry-errored"


def _everything(width: int, style: Style) -> list[str]:
    return summary(everything(), width, style, next=RESUME)


def _several(width: int, style: Style) -> list[str]:
    notice = "interrupted, with 18 of 20 trials finished and kept"
    return summary(several(), width, style, notice=notice)


def _list(width: int, style: Style) -> list[str]:
    suites, targets = ("evals/shop.eval.yaml", "b"), ("agent",)
    return list(list_lines([
        Entry("20260301-090000-a1b2c3", "now", suites, targets, 30, count(everything()),
              "incomplete: evalcase resume 20260301-090000-a1b2c3"),
        Entry("20260228-090000-a1b2c3", "1 d", ("quiz.eval.jsonl",), ("gpt", "b"), 18,
              count(several())),
        Entry("20260227-090000-a1b2c3", remark="damaged: run.json has no 'id'"),
    ], width, style))  # fmt: skip


PICTURES: dict[str, Callable[[int, Style], list[str]]] = {
    "everything": _everything, "several": _several, "list": _list
}  # fmt: skip


def pictures() -> Iterator[tuple[str, str]]:
    """The name of each golden file, and what it should hold."""
    for name, draw in PICTURES.items():
        for width in WIDTHS:
            for label, style in STYLES.items():
                text = "\n".join(draw(width, style)) + "\n"
                yield f"{name}-{width}-{label}.txt", text.replace("\x1b", "␛")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in pictures():
        (FOLDER / file).write_text(text, encoding="utf-8")
