"""Targets that extend others, what they lay over a workspace, and the limits of programs."""

import json

import pytest

from tests.workspaces.shop import CONFIG, Shop, case

SKILLED = """
[targets.skilled]
extends = "agent"
[targets.skilled.overlay]
".claude/skills/csv" = "skills/csv"
"NOTES.md" = "notes.md"
"""


def test_an_overlay_is_seen_by_its_target_and_is_in_no_diff(shop: Shop) -> None:
    shop.write("evalcase.toml", CONFIG + SKILLED)
    shop.write("skills/csv/SKILL.md", "read tables")
    shop.write("notes.md", "be brief")
    prompt = "show .claude/skills/csv/SKILL.md\nshow NOTES.md\nwrite a b"
    shop.suite(
        case(prompt, {"contains": "read tables"}, {"diff": {"only": ["a"]}}), setup=[["cat", "-"]]
    )
    shop.evalcase("run", "--target", "agent", "--target", "skilled")
    plain, skilled = shop.trials()
    assert (plain["verdict"], skilled["verdict"]) == ("failed", "passed")
    assert "be brief" in json.dumps(skilled["answer"])
    assert [each["path"] for each in skilled["workspace"]["changed"]] == ["a"]
    assert plain["question_hash"] != skilled["question_hash"]
    compared = shop.evalcase("compare", "--targets", "agent", "skilled")
    assert compared.code == 0, compared.err
    assert "fixed" in compared.out
    assert "different question" not in compared.out
    # What is laid over is a part of the question: it is asked again, and stored answers are not
    # graded in another workspace.
    shop.write("skills/csv/SKILL.md", "read tables!")
    graded = shop.evalcase("resume", "latest")
    again = {each["target"]: each for each in shop.trials()}
    assert again["agent"]["question_hash"] == plain["question_hash"], graded.err
    assert again["skilled"]["question_hash"] != skilled["question_hash"]


def test_targets_in_other_processes_get_what_they_lay_over(shop: Shop) -> None:
    shop.write("evalcase.toml", CONFIG + "time_s = 20\n" + SKILLED)
    shop.write("skills/csv/SKILL.md", "read tables")
    shop.write("notes.md", "be brief")
    shop.suite(
        case("show NOTES.md\nwrite a b", {"contains": "be brief"}, {"diff": {"only": ["a"]}})
    )
    done = shop.evalcase("run", "--target", "skilled", "--processes", "1")
    assert done.code == 0, (done.out, done.err)


def test_later_keys_win_and_tables_are_merged(shop: Shop) -> None:
    base, mid = "[targets.base]\nextends = 'mid'\n", "[targets.mid]\nextends = 'agent'\n"
    own = 'env = {A = "1", B = "1"}\n'
    shop.write("evalcase.toml", base + CONFIG + own + mid + 'env = {B = "2"}\n')
    shop.suite(case("env A\nenv B", {"contains": "1\n2"}))
    assert shop.evalcase("run", "--target", "base").code == 0


def test_check_says_what_is_wrong_with_a_base_or_an_overlay(shop: Shop) -> None:
    shop.suite(case("?", {"diff": {"empty": True}}))
    shop.write("evalcase.toml", """
[targets.a]
extends = "b"
[targets.b]
extends = "a"
[targets.c]
extends = "agnt"
[targets.agent]
kind = "command"
command = ["cat"]
[targets.agent.overlay]
"../x" = "shop"
a = "nowhere"
b = "/etc/hosts"
[targets.model]
kind = "openai"
model = "m"
overlay = {a = "shop"}
[targets.claude]
kind = "claude"
mcp = "servers.json"
plugins = ["shop", "plugin"]
[targets.gemini]
kind = "gemini-cli"
plugins = ["extension"]
""")  # fmt: skip
    out = shop.evalcase("check").out
    for said in (
        "evalcase.toml:3:11: error[bad-value]: `extends` goes in a circle: a → b → a",
        "evalcase.toml:7:11: error[unknown-target]: there is no target `agnt` to extend",
        "the path `../x` in `overlay` leaves the workspace",
        "there is no file or folder `nowhere`",
        "`/etc/hosts` is outside the project, and an overlay may not leave it",
        "`overlay`",
        "there is no file or folder `servers.json`",
        "there is no file or folder `plugin`",
    ):
        assert said in out, out
    assert "extension" not in out


def test_what_was_done_by_the_time_limit_of_an_agent_is_graded(shop: Shop) -> None:
    shop.write("evalcase.toml", CONFIG + "time_s = 1\n")
    shop.write("agent.py", "import time\nopen('a', 'w')\nprint('on', flush=True)\ntime.sleep(60)")
    shop.suite(case("?", {"finish": "max_time"}, {"contains": "on"}, {"diff": {"only": ["a"]}}))
    done = shop.run()
    assert done.code == 0, (done.out, done.err)
    shop.write("evalcase.toml", CONFIG + "idle_s = 0.5\n")
    done = shop.run()
    assert done.code == 3
    assert "printed nothing for 0.5 s" in done.out


def test_an_agent_that_does_not_end_after_its_last_event_is_ended(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalcase.util.processes.LINGER_S", 0.2)
    end = json.dumps({"type": "turn.completed", "usage": {}})
    shop.write("evalcase.toml", CONFIG + 'output = "codex-json"\n')
    shop.write("agent.py", f"import time\nprint({end!r}, flush=True)\ntime.sleep(100)")
    shop.suite(case("?", {"diff": {"empty": True}}))
    done = shop.run()
    assert done.code == 0, (done.out, done.err)


def test_instructions_above_all_workspaces_are_warned_of(shop: Shop) -> None:
    shop.write("../cache/AGENTS.md", "be brief")
    shop.suite(case("write a b", {"diff": {"only": ["a"]}}, repeat=2))
    done = shop.run()
    assert done.code == 0
    assert done.err.count(f"`agent` may read {shop.cache}/AGENTS.md, which is above") == 1
    (record,) = (shop.root / ".evalcase/runs").glob("2*")
    again = shop.evalcase("run", "-t", f"replay:{record}")
    assert (again.code, again.err) == (0, "")
