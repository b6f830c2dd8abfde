"""The graders of workspaces: `run`, `files`, `diff`, `skill_used`."""

import json
import re
from typing import Any

from evalcase.graders.base import Context
from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.message import Message
from evalcase.types.target import Question
from tests.for_each import for_each
from tests.graders.rows import grade_by
from tests.workspaces.shop import CONFIG, Shop, case


def verdicts(shop: Shop, prompt: str, *graders: Any, **workspace: Any) -> list[tuple[str, str]]:
    """The score, or the kind of failure, of each grader, and its reason."""
    shop.suite(case(prompt, *graders), **workspace)
    shop.run()
    grades = shop.trials()[0]["grades"]
    return [
        (each["failure"]["kind"] if "failure" in each else f"{each['score']:.2f}", each["reason"])
        for each in grades
    ]


FILES: list[tuple[str, Any, str]] = [
    ("cart.py", {"contains": "a - b"}, "1.00"),
    ("cart.py", {"contains": ["a - b", "a + b"]}, "0.00"),
    ("cart.py", {"regex": "return .*b"}, "1.00"),
    ("cart.py", "unchanged", "1.00"),
    ("tests", "unchanged", "0.00"),
    ("./p[id].txt", "unchanged", "0.00"),
    ("tests/**", "unchanged", "0.00"),
    ("test/**", "unchanged", "0.00"),  # there are none
    ("?.txt", "absent", "0.00"),
    ("?.txt", "unchanged", "0.00"),
    ("test*", "absent", "0.00"),  # an empty folder is one
    ("tests/test_cart.py", "absent", "1.00"),
    ("*.txt", "absent", "0.00"),
    ("data.json", {"json": {"version": "2.0", "items.0": {"number": 3, "within": 1}}}, "1.00"),
    ("data.json", {"json": {"version": "2.1"}}, "0.00"),
    ("data.json", {"equals_file": "expected.json"}, "1.00"),
    ("cart.py", {"exists": True}, "1.00"),
    ("none.py", {"contains": "x"}, "0.00"),
    ("out", {"contains": "root"}, "workspace"),
]


def test_files_are_compared_as_their_matchers_say(shop: Shop) -> None:
    data = json.dumps({"version": "2.0", "items": [2]})
    shop.write("expected.json", f"{data}\n")
    prompt = f"write p[id].txt x\nwrite data.json {data}\nremove tests/test_cart.py\n"
    prompt += "write a.txt hi\nlink out /etc/passwd"
    graders = [{"files": {path: matcher}} for path, matcher, _ in FILES]
    found = verdicts(shop, prompt, *graders)
    assert [got for got, _ in found] == [wanted for *_, wanted in FILES], found


def test_a_file_that_is_not_there_is_not_otherwise(shop: Shop) -> None:
    gone = {"type": "files", "value": {"gone.py": {"contains": "x"}}, "not": True}
    ((got, reason),) = verdicts(shop, "?", gone)
    assert (got, shop.trials()[0]["verdict"]) == ("0.00", "failed"), reason


def test_files_are_named_from_the_workspace(shop: Shop) -> None:
    for path in ("/etc/passwd", "../x"):
        shop.suite(case("?", {"files": {path: "absent"}}))
        assert f"`{path}` leaves the workspace" in shop.evalcase("check").out


DIFFS: list[tuple[dict[str, Any], str]] = [
    ({"max_files": 2}, "1.00"),
    ({"max_files": 1}, "0.00"),
    ({"max_lines": 2}, "1.00"),
    ({"max_lines": 1}, "0.00"),
    ({"only": ["*.txt", "tests/**"]}, "1.00"),
    ({"only": ["*.txt"]}, "0.00"),
    ({"never": ["tests/**"]}, "0.00"),
    ({"empty": False}, "1.00"),
    ({"empty": True}, "0.00"),
]


def test_a_diff_is_limited(shop: Shop) -> None:
    found = verdicts(
        shop, "write a.txt hi\nremove tests/test_cart.py", *[{"diff": each} for each, _ in DIFFS]
    )
    assert [got for got, _ in found] == [wanted for _, wanted in DIFFS], found


REPORT = """
import sys
open(sys.argv[1], "w").write('''<testsuite>
<testcase classname="tests.t.C" name="one[a::b]"/>
<testcase classname="tests.t" name="two"><failure message="no"/></testcase>
<testcase classname="tests.t" name="three"><skipped type="pytest.skip"/></testcase>
<testcase classname="tests.t" name="four"><skipped type="pytest.xfail"/></testcase>
<testcase classname="tests.t" name="five" status="failed"/>
</testsuite>''')
sys.exit(1)
"""
JUNIT: list[tuple[dict[str, Any], str]] = [
    ({}, "0.50"),
    ({"must_pass": ["tests/t.py::C::one[a::b]"]}, "1.00"),
    ({"must_pass": ["tests/t.py::two"]}, "0.00"),
    ({"must_pass": ["tests/t.py::three"]}, "0.00"),
    ({"must_pass": ["tests/t.py::four"]}, "1.00"),
    ({"keep_passing": ["tests/t.py::three"]}, "1.00"),
    ({"keep_passing": ["tests/t.py::gone"], "must_pass": ["tests/t.py::four"]}, "0.50"),
]


def test_tests_are_read_from_a_junit_report(shop: Shop) -> None:
    run = {"type": "run", "value": ["python3", "report.py", "{report}"], "report": "junit"}
    found = verdicts(
        shop, "?", *[{**run, **each} for each, _ in JUNIT], files={"report.py": {"text": REPORT}}
    )
    assert [got for got, _ in found] == [wanted for _, wanted in JUNIT], found


ONE = '<testcase name="x"/>'
ODD = [
    ("", 0, "was not written"),
    ("<a", 0, "is not XML"),
    ("<!DOCTYPE a><a/>", 0, "declares entities"),
    ("<a/>", 0, "has no tests"),
    ('<a><testcase name="x"><skipped/></testcase></a>', 0, "skipped tests only"),
    (f"<a>{ONE}{ONE}</a>", 0, "twice"),
    (f"<a>{ONE}</a>", 2, "no test in its report failed"),
    (f'<testsuite failures="2">{ONE}</testsuite>', 0, "shows none of them"),
]


@for_each(["text", "code", "told"], ODD)
def test_a_report_that_says_nothing_is_an_error(
    shop: Shop, text: str, code: int, told: str
) -> None:
    run = {"type": "run", "value": ["python3", "r.py", "{report}"], "report": "junit"}
    write = f"open(sys.argv[1], 'w').write({text!r})\n" if text else ""
    files = {"r.py": {"text": f"import sys\n{write}sys.exit({code})\n"}}
    ((kind, reason),) = verdicts(shop, "?", run, files=files)
    assert kind == "workspace"
    assert told in reason


def test_a_command_passes_by_its_exit_code_or_its_reply(shop: Shop) -> None:
    half = "import json; print(json.dumps({'score': 0.5, 'reason': 'half'}))"
    graders = [
        {"run": ["test", "-f", "cart.py"]},
        {"type": "run", "value": ["false"], "expect": 1},
        {"run": ["false"]},
        {"type": "run", "value": ["python3", "-c", half], "report": "json"},
        {"type": "run", "value": ["echo", "hi"], "report": "json"},
        {"run": ["no-such-program"]},
        {"type": "run", "value": ["sleep", "60"], "timeout_s": 0.2},
    ]
    kinds = [kind for kind, _ in verdicts(shop, "?", *graders)]
    assert kinds == ["1.00", "1.00", "0.00", "0.50", "workspace", "workspace", "grader"]


def test_a_command_has_ten_minutes_where_others_have_less(shop: Shop) -> None:
    shop.write("evalcase.toml", f"grader_timeout_s = 0.2\n{CONFIG}")
    shop.write("slow.py", "import time\ndef look(): time.sleep(60)\n")
    graders = {"run": ["sleep", "0.5"]}, {"python": "slow:look"}
    assert [kind for kind, _ in verdicts(shop, "?", *graders)] == ["1.00", "grader"]


def test_a_fresh_copy_has_only_what_is_recorded(shop: Shop) -> None:
    fresh = {"type": "run", "fresh": True}
    graders = [
        {"run": ["sh", "-c", "test -f cache/forged && touch left"]},
        {**fresh, "value": ["sh", "-c", "! test -e cache && ! test -e left && touch mine"]},
        {**fresh, "value": ["sh", "-c", "! test -e mine && ! test -e gone/empty"]},
        {**fresh, "value": ["grep", "-q", "a", "kept.txt"]},
        {
            **fresh,
            "value": ["sh", "-c", "test $(cat h) = hidden && test $(cat tests/test_cart.py) = old"],
        },
        {**fresh, "value": ["sh", "-c", "git config user.name | grep -q forged"], "expect": 1},
        {"files": {"cache/forged": {"exists": True}, "gone": {"exists": False}}},
    ]
    shop.write(
        "agent.py",
        "import os\nfrom pathlib import Path\n"
        "os.makedirs('cache'); Path('cache/forged').write_text('x')\n"
        "os.makedirs('gone/empty'); Path('kept.txt').write_text('a')\n"
        "Path('tests/test_cart.py').write_text('forged')\n"
        "os.system('git config user.name forged')\n",
    )
    told = shop.root / "torn"
    options = {
        "teardown": [["sh", "-c", f"echo x >> {told}"]],
        "ignore": ["cache"],
        "restore": ["tests/**"],
        "hidden": {"h": {"text": "hidden"}},
    }
    found = verdicts(shop, "?", *graders, **options)
    assert [got for got, _ in found] == ["1.00"] * 6 + ["0.50"], found
    assert told.read_text() == "x\nx\n"
    assert shop.evalcase("grade", "latest").code == 1
    again = [f"{grade['score']:.2f}" for grade in shop.trials()[0]["grades"]]
    assert again == ["0.00", "1.00", "1.00", "1.00", "1.00", "1.00", "0.50"], "not what is ignored"
    assert shop.left() == []


def test_whatever_looks_at_a_workspace_takes_turns(shop: Shop) -> None:
    program = shop.root / "turns.py"
    shop.write(
        "turns.py",
        f"""
import os, time

def look(workspace):
    os.mkdir({str(shop.root / "busy")!r})
    time.sleep(0.1)
    os.rmdir({str(shop.root / "busy")!r})
    return True

if __name__ == "__main__":
    look("")
    print('{{"passed": true}}')
""",
    )
    look = ["python3", str(program)]
    run = {"run": ["sh", "-c", f"mkdir here && python3 {program} && rmdir here"]}
    files = {"files": {"here": "absent"}}
    graders = [
        run, files, {"script": look}, {"python": "turns:look"}, {"all": [files, run, files]},
        {"type": "run", "fresh": True, "value": look}, files,
    ]  # fmt: skip
    found = verdicts(shop, "?", *graders)
    assert [got for got, _ in found] == ["1.00"] * len(graders), found


def test_commands_run_one_after_another_and_no_limit_counts_the_others(shop: Shop) -> None:
    words = ["sh", "-c", "mkdir here && sleep 0.8 && rmdir here"]
    command = {"type": "run", "value": words, "timeout_s": 2}
    shop.suite(case("", command, command, {"all": [command, command]}))
    done = shop.run()
    assert done.code == 0, done.out


def test_what_a_command_printed_is_shown(shop: Shop) -> None:
    code = (
        "import os; [print('line', n) for n in range(7)]; "
        "raise SystemExit('no \"total\" in ' + os.path.abspath('cart.py'))"
    )
    shop.suite(case("write cart.py x", {"run": ["python3", "-c", code]}))
    done = shop.run()
    assert "run: exit code 1, expected 0 (score 0)" in done.out
    last = [
        "│ … 3 lines before",
        *(f"│ line {number}" for number in range(3, 7)),
        '│ no "total" in cart.py',
    ]
    assert "\n".join(f"  {line}" for line in last) in done.out
    shown = shop.evalcase("report", "latest", "--case", "c").out
    assert re.search(r"stdout +line 0\n +line 1\n", shown)
    assert re.search(r'stderr +no "total" in cart.py\n', shown)
    assert "exit_code" not in shown


def call(tool: str, **given: Any) -> dict[str, Any]:
    return {"tool": tool, "input": given}


SKILLS: list[tuple[dict[str, Any], dict[str, Any], float]] = [
    (call("Skill", skill="csv"), {"value": "csv"}, 1.0),
    (call("Skill", skill="tables:csv"), {"value": "csv"}, 1.0),
    (call("activate_skill", name="csv"), {"value": "csv"}, 1.0),
    (call("Skill", skill="pdf"), {"value": "csv"}, 0.0),
    ({**call("Skill", skill="csv"), "is_error": True}, {"value": "csv"}, 0.0),
    (call("shell", command="cat skills/csv/SKILL.md"), {"value": "csv"}, 0.0),
    (call("shell", command="cat skills/csv/SKILL.md"), {"value": "csv", "evidence": "any"}, 1.0),
]


@for_each(["made", "options", "score"], SKILLS)
def test_a_skill_was_used(made: dict[str, Any], options: dict[str, Any], score: float) -> None:
    given = Case(input="?")
    answer = Answer((Message({"role": "assistant", "content": "done", "tool_calls": [made]}),))
    context = Context(given, Question(given.input), answer)
    assert grade_by({"type": "skill_used", **options}, context).score == score


def test_scripts_and_functions_see_the_workspace_and_what_was_changed(shop: Shop) -> None:
    shop.write(
        "looks.py",
        """
import json, pathlib, sys

def check(workspace, changes):
    text = pathlib.Path(workspace, "a.txt").read_text()
    return (text, changes.changed[0].path) == ("hi\\n", "a.txt")

if __name__ == "__main__":
    given = json.load(sys.stdin)
    text = pathlib.Path(given["workspace"], "a.txt").read_text()
    print(json.dumps({"passed": "+hi" in given["changes"]["diff"] and text == "hi\\n"}))
""",
    )
    graders = [{"script": ["python3", "looks.py"]}, {"python": "looks:check"}]
    found = verdicts(shop, "write a.txt hi", *graders)
    assert [got for got, _ in found] == ["1.00", "1.00"], found


def test_a_judge_is_shown_the_diff(shop: Shop) -> None:
    shop.write(
        "judges.py",
        """
import json

def answer(messages):
    shown = messages[-1].content
    verdict = "met" if "diff\\n" in shown and "+hi" in shown else "not_met"
    return json.dumps({"c1": {"reason": "seen", "verdict": verdict}})
""",
    )
    shop.write(
        "evalcase.toml",
        (shop.root / "evalcase.toml").read_text()
        + '[targets.judge]\nkind = "python"\nfunction = "judges:answer"\n',
    )
    found = verdicts(
        shop, "write a.txt hi", {"type": "judge", "value": "Writes hi.", "target": "judge"}
    )
    assert found[0][0] == "1.00", found
