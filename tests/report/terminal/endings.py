"""Results of every sort, and their summary."""

from collections import Counter
from typing import Any
from unittest.mock import Mock

from evalcase.config.config import Config
from evalcase.report.aggregate import Highlights
from evalcase.report.case_text import case_lines, trial_lines
from evalcase.report.evaluated import Evaluated
from evalcase.report.summary import summary_lines
from evalcase.report.terminal import Reader, Screen
from evalcase.store.folder import Run, RunAbout
from evalcase.store.index import Tally
from evalcase.types.answer import Answer, Failure, Usage
from evalcase.types.case import Case, canonical_case
from evalcase.types.grade import Grade
from evalcase.types.message import take_message
from evalcase.types.result import Result, Totals, Verdict, outcome_of
from evalcase.types.target import TrialKey
from evalcase.types.value import replace

PLAIN = Screen()
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


def said(text: str | None, *calls: dict[str, Any]) -> Answer:
    """An answer of one message."""
    called = {"tool_calls": list(calls)} if calls else {}
    return Answer((take_message({"role": "assistant", "content": text, **called}),))


def sides(expected: str, got: str, grader: str = "expected", **more: str) -> Grade:
    reason = f'expected "{expected[:20]}", got "{got[:20]}"'
    return Grade(grader, 0.0, False, reason, {"expected": expected, "got": got, **more})


def called(*rows: dict[str, Any]) -> Grade:
    return Grade(
        "expected", 0.5, False, "1 of 2 expected calls made in order", {"calls": list(rows)}
    )


def broken(case: str, kind: str, message: str, details: dict[str, Any], **more: Any) -> Result:
    failure = Failure(kind, message, details)  # type: ignore[arg-type]
    return result(case, "errored", answer=None, failure=failure, **more)


FIND = {"tool": "find_order", "input": {"order": "A-1042", "verbose": True}}
REFUND = {"tool": "refund", "input": {"order": "A-1043", "euros": 7.0, "note": "sorry"}}
ASKED = {
    "postage": "How much is it to send a lamp to Lima?",
    "letter": "Where is my order?\n\nI have been waiting for weeks. " * 6,
    "calls": "Please give me my money back for A-1042.",
    "own": "Say it in one sentence.",
    "日本語": "日本の首都はどこですか。",
    "lamp": "How heavy is it? \x1b[2J",
}
EXPECTED = {
    "own": [{"role": "assistant", "content": "One sentence."}],
    "judged": [
        {"role": "assistant", "content": "Done.", "tool_calls": [{"tool": "refund", "input": {}}]}
    ],
}


def find_case(suite: str, id: str) -> Case | None:
    """What the record has of a case; of some it has nothing."""
    del suite
    if id in ("spaces", "slow"):
        return None
    asked = [{"role": "system", "content": "Be brief."}]
    asked.append({"role": "user", "content": ASKED.get(id, f"What about {id}?")})
    data: dict[str, Any] = {"id": id, "input": asked}
    if id in EXPECTED:
        data["expected_output"] = EXPECTED[id]
    return canonical_case(data)


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
        result("postage", "failed", sides("That is 7.00 euros.", "That is 6.40 euros.")),
        result("letter", "failed", sides(
            LETTER, LETTER.replace("three", "four") + "\nPS: \x1b[2JHello!",
            where="line 5, character 24")),
        result("triage", "failed", sides(
            '{\n  "riskLevel": "High",\n  "labels": [\n    "billing"\n  ]\n}',
            '{\n  "riskLevel": "Low",\n  "labels": []\n}', where="$.riskLevel, $.labels[0]")),
        result("calls", "failed", called(
            {"expected": 'find_order(order="A-1042")', "made": True,
             "got": 'find_order(order="A-1042", verbose=true)'},
            {"expected": 'refund(order="A-1042", euros=7.0)', "made": False,
             "got": 'refund(order="A-1043", euros=7.0, note="sorry")'},
            {"expected": None, "got": "log()", "made": True},
            {"expected": 'mail(to="me")', "got": None, "made": False, "note": "not made"}),
            answer=said("I gave it back.", FIND, REFUND)),
        result("no-calls", "failed", called(
            {"expected": "refund()", "got": None, "made": False, "note": "no tool calls"}),
            answer=said("Sorry, I can't do that.")),
        result("no-text", "failed", sides("Your money is on its way.", ""),
               answer=said(None, FIND, REFUND)),
        result("long", "failed", sides(
            "It is said that " * 40 + "Lima is the capital. " + "And so on. " * 30,
            "It is said that " * 40 + "Oslo is the capital. " + "And so on. " * 30,
            where="line 1, character 641")),
        result("spaces", "failed", sides("a b", "a  b", note="only white space differs")),
        result("silent", "failed", sides("Hello!", ""), answer=said("")),
        result("日本語", "failed", sides("東京です", "大阪です")),
        result("own", "failed",
               Grade("python:agents:is_short", 0.2, False, "48 words (score 0.2, needs 1)"),
               answer=said("This is a sentence. And this is another one. " * 20)),
        result("no", "failed",
               Grade("python:agents:is_polite", 0.0, False, "the function returned False"),
               answer=said("Go away.", FIND)),
        result("nothing", "ungraded"),
        broken("lamp", "exception", "KeyError: 'lamp'", {"traceback": TRACEBACK}),
        broken("lamp-2", "exception", "KeyError: 'lamp'", {"traceback": TRACEBACK}),
        broken("tool", "exit", "the command exited with code 3: Error: no such model",
               {"exit_code": 3, "stderr": "one\ntwo\n\nthrow it\n  here\nError: no such model\n"
                "    at main (agent.js:3:9)\n    at run\n\nNode.js v20\n"}),
        broken("busy", "http", "503 Service Unavailable",
               {"status": 503, "body": '{"error": "overloaded\\u001b"}'}, attempts=3),
        broken("slow", "timeout", "no answer within 120 s", {}, duration_s=120.0),
        result("judged", "errored", Grade("judge", None, False, "no judge is configured",
               failure=Failure("grader", "no judge is configured"))),
        result("off", "skipped", answer=None, failure=Failure("stopped", "not today")),
    ]  # fmt: skip


def several() -> list[Result]:
    """Two targets, and cases that are repeated: some of one of them have no result."""
    verdicts: dict[str, list[Verdict]] = {
        "steady": ["passed"] * 3, "shaky": ["passed", "failed", "failed"], "never": ["failed"] * 3,
        "cut-off": ["passed", "failed"],
    }  # fmt: skip
    wrong = sides("Lima", "Oslo")
    good: list[Verdict] = ["passed"] * 3
    coin: list[Verdict] = ["failed", "passed", "errored", "failed", "passed", "failed"]
    return [
        *(result(case, verdict, *([wrong] if verdict == "failed" else []), repeats=3,
                 key=TrialKey("quiz.eval.jsonl", case, target, repeat))
          for target in ("gpt", "command:python3 a-program-with-a-long-name.py")
          for case, row in verdicts.items()
          for repeat, verdict in enumerate(row if target == "gpt" else good, 1)),
        *(result("coin", verdict, repeats=6, pass_rate=0.3,
                 failure=Failure("exception", "the coin is gone") if verdict == "errored" else None,
                 key=TrialKey("quiz.eval.jsonl", "coin", "gpt", repeat))
          for repeat, verdict in enumerate(coin, 1)),
    ]  # fmt: skip


def hopeless() -> list[Result]:
    """Very many failures, and an error that all cases have in common."""
    wrong = sides("Lima", "Oslo")
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


def summary(
    results: list[Result], screen: Screen = PLAIN, *, verbose: bool = False, **changes: Any
) -> list[str]:
    highlights = Highlights()
    for each in results:
        highlights.add(each)
    run = Run("20260301-090000-a1b2c3", "runs/20260301-090000-a1b2c3", "", RunAbout({}))
    evaluated = Evaluated(run, changes.pop("status", "completed"), count(results), **changes)
    reader = Reader("/project", Config("/project"), screen, verbose=verbose)
    record = Mock(find_case=find_case, find_result={each.key: each for each in results}.get)
    return list(summary_lines(evaluated, highlights, record, reader))


def one_case(screen: Screen) -> list[str]:
    """Trials of every sort in full, as if they were of one case."""
    chosen = ("calls", "own", "busy", "judged", "triage", "off")
    results = [each for each in everything() if each.key.case in chosen]
    lines = list(case_lines("evals/shop.eval.yaml", "own", find_case("", "own"), screen))
    for number, each in enumerate(results):
        trial = replace(each, key=each.key._replace(repeat=number + 1))
        outcome = outcome_of(Counter([each.verdict]))._replace(repeats=len(results))
        lines += trial_lines(trial, None, outcome, screen, is_first=not number)
    lines += trial_lines(results[0], None, outcome_of(Counter(["failed"])), screen, is_first=True)
    return lines
