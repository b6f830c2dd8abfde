"""What `evalcase harvest` makes of traces, what it says, and what it refuses."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalcase as library
from tests.cli.command import Result, evalcase
from tests.for_each import for_each
from tests.tracing.otlp import chat, line, said, span

RECORDED = Path(__file__).parent.parent / "tracing" / "recorded"
FILES = sorted(each.name for each in RECORDED.glob("*.jsonl"))
SUITE = """\
# Harvested from traces.jsonl: drafts of cases, for a person to finish.
# What the agent was told of itself (system messages) is left out.

cases:
  # draft: what was answered when it was traced; make it what should be
  - id: where-is-my-order
    input: Where is my order?
    expected_output: On its way.
    metadata:
      trace: "00000000000000000000000000000001"
"""


def asked(
    question: str, answer: str | None = "Yes.", number: int = 1, *, system: str | None = None,
    error: str | None = None, seconds: float = 1.0, **attributes: str,
) -> str:  # fmt: skip
    """A trace of one question: a call of a model, and the span around it."""
    given = [] if system is None else json.loads(said(system, "system"))
    given += json.loads(said(question, "user"))
    own = {"gen_ai.input.messages": json.dumps(given)}
    own["gen_ai.output.messages"] = "[]" if answer is None else said(answer)
    trace, root = f"{number:032x}", f"{number:016x}"
    return line(
        chat("", trace=trace, parent=root, attributes=own),
        span(attributes, trace=trace, id=root, name="agent", seconds=seconds, error=error),
    )


def harvest(folder: Path, *lines: str, options: tuple[str, ...] = ()) -> Result:
    (folder / "traces.jsonl").write_text("".join(lines))
    return evalcase("harvest", "traces.jsonl", *options, cwd=folder)


def cases_of(text: str) -> list[library.Case]:
    return list(library.loads(text))


def test_a_trace_becomes_a_case_for_a_person_to_finish(tmp_path: Path) -> None:
    one = asked("Where is my order?", "On its way.", system="You are a shop.")
    result = harvest(tmp_path, one)
    assert (result.code, result.out) == (0, SUITE)
    assert result.err == "1 case of 1 trace\n"
    result = harvest(tmp_path, one, options=("-o", "new.eval.yaml"))
    assert (result.code, result.out) == (0, "wrote new.eval.yaml: 1 case of 1 trace\n")
    assert (tmp_path / "new.eval.yaml").read_text() == SUITE
    assert evalcase("check", "new.eval.yaml", cwd=tmp_path).code == 0


def test_system_messages_are_kept_where_that_is_said(tmp_path: Path) -> None:
    one = asked("Where is my order?", system="You are a shop.")
    (case,) = cases_of(harvest(tmp_path, one, options=("--keep-system",)).out)
    assert [each.role for each in case.input] == ["system", "user"]


@pytest.mark.parametrize("name", FILES)
def test_recorded_traces_of_others_become_suites_that_their_traces_pass(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "traces.jsonl").write_bytes((RECORDED / name).read_bytes())
    done = evalcase("harvest", "traces.jsonl", "-o", "new.eval.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "wrote new.eval.yaml: 3 cases of 3 traces\n")
    assert evalcase("check", "new.eval.yaml", cwd=tmp_path).code == 0
    run = evalcase("run", "new.eval.yaml", "--target", "otlp:traces.jsonl", cwd=tmp_path)
    assert run.out.startswith("3 passed"), run.out


def test_an_answer_may_be_something_to_describe(tmp_path: Path) -> None:
    result = harvest(tmp_path, asked("Where?", "On its way."), options=("--criteria",))
    assert "# draft: describe what a good answer says" in result.out
    (case,) = cases_of(result.out)
    assert case.criteria == "Says what this answer says: On its way."
    assert not case.expected_output


def test_a_trace_without_an_answer_is_skipped_until_somebody_says_what_is_expected(
    tmp_path: Path,
) -> None:
    result = harvest(tmp_path, asked("Where?", None, error="no stock"))
    (case,) = cases_of(result.out)
    assert isinstance(case.skip, str)
    assert "# `agent` failed: no stock" in result.out


MANY = [
    asked("Where is my order?", number=1, seconds=1, **{"service.tier": "gold"}),
    asked("When do you open?", number=2, seconds=9),
    asked("Who are you?", number=3, seconds=1, error="no model"),
    asked("What does it cost?", number=4, seconds=1, **{"service.tier": "gold"}, vip="1"),
]


@for_each(
    ("options", "ids"),
    [
        (("--only", "errored"), ["who-are-you"]),
        (("--only", "slow"), ["when-do-you-open"]),
        (("--only", "service.tier=gold"), ["where-is-my-order", "what-does-it-cost"]),
        (("--only", "service.tier=gold", "--only", "vip=1"), ["what-does-it-cost"]),
    ],
)
def test_some_traces_can_be_chosen(
    tmp_path: Path, options: tuple[str, ...], ids: list[str]
) -> None:
    result = harvest(tmp_path, *MANY, options=options)
    assert [case.id for case in cases_of(result.out)] == ids
    assert f"chosen    {len(ids)} by --only\n" in result.err


def test_a_sample_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    def drawn(seed: int) -> list[str]:
        options = ("--sample", "2", "--seed", str(seed))
        return [case.id for case in cases_of(harvest(tmp_path, *MANY, options=options).out)]

    assert len(drawn(1)) == 2
    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(seed)) for seed in range(8)}) > 1


def test_those_that_ask_nearly_the_same_are_folded_and_said(tmp_path: Path) -> None:
    lines = [
        asked("Where is order 17?", number=1), asked("where is ORDER 18", number=2),
        asked("What is the weather in Bergen?", number=3),
        asked("What is the weather in Oslo?", number=4),
    ]  # fmt: skip
    result = harvest(tmp_path, *lines)
    assert len(cases_of(result.out)) == 3
    assert f"# 1 more trace asked nearly the same: {2:032x}" in result.out
    assert "folded    1 that ask nearly the same as another\n" in result.err


def test_secrets_and_personal_data_are_replaced_and_said(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text(
        'secrets = ["SHOP_TOKEN"]\n[harvest.patterns]\norder = "ORD-[0-9]{4}"\n'
    )
    question = (
        "I am ola@example.com, call +47 22 33 44 55, card 4111 1111 1111 1111, number "
        "4111 1111 1111 1112, key sk-abcdefghijklmnop1234, order ORD-1234, token tok-9f8e7d6c5b"
    )
    (tmp_path / "traces.jsonl").write_text(asked(question, "Mail to ola@example.com of ORD-9999."))
    result = evalcase("harvest", "traces.jsonl", cwd=tmp_path, env={"SHOP_TOKEN": "tok-9f8e7d6c5b"})
    (case,) = cases_of(result.out)
    assert case.input[0].text == (
        "I am [email 1], call [phone 1], card [card 1], number 4111 1111 1111 1112, "
        "key [key 1], order [order 1], token ***SHOP_TOKEN***"
    )
    assert case.expected_output[0].text == "Mail to [email 1] of [order 2]."
    # The id is made of the question, and so has an address of its own.
    assert "ola" not in result.out
    assert "replaced  key × 1, email × 2, card × 1, phone × 1, order × 2\n" in result.err


def test_personal_data_is_replaced_wherever_it_is(tmp_path: Path) -> None:
    email = "j\u00f6rg@m\u00fcller.example"
    call = {"type": "tool_call", "id": email, "name": f"mail {email}",
            "arguments": {email: {"to": [email]}, "[email 1]": 4111111111111111}}  # fmt: skip
    output = json.dumps([{"role": "assistant", "parts": [call]}])
    own = {
        "evalcase.case": f"of {email}", "gen_ai.output.messages": output,
        "gen_ai.input.messages": json.dumps(
            [*json.loads(said(f"You serve {email}", "system")), *json.loads(said("Go!", "user"))]
        ),
    }  # fmt: skip
    one = chat("", trace="ab" * 16, attributes=own, error=f"no mail to {email}")
    lost = chat("", trace="cd" * 16, attributes={"gen_ai.output.messages": "[]", "x": "1"})
    lost["attributes"].append({"key": "y", "value": {"intValue": email}})
    result = harvest(tmp_path, line(one), line(lost), options=("--keep-system",))
    assert result.code == 1
    assert "m\u00fcller" not in result.out + result.err
    (case,) = cases_of(result.out)
    assert (case.id, case.input[0].text) == ("of [email 1]", "You serve [email 1]")
    assert case.expected_output[0].tool_calls[0] == {
        "tool": "mail [email 1]",
        "input": {"[email 1]": {"to": ["[email 1]"]}, "[email 1]-2": "[card 1]"},
    }
    assert "# `chat` failed: no mail to [email 1]\n" in result.out


@for_each(
    ("settings", "said_of_it"),
    [
        ('[harvest.patterns]\na = "("', "is not a pattern"),
        ("[harvest]\npattern = 1", "did you mean `patterns`"),
    ],
)
def test_patterns_that_make_no_sense_are_refused(
    tmp_path: Path, settings: str, said_of_it: str
) -> None:
    (tmp_path / "evalcase.toml").write_text(settings)
    result = harvest(tmp_path, asked("Where?"))
    assert result.code == 2
    assert said_of_it in result.err


def test_what_can_not_be_made_a_case_is_named(tmp_path: Path) -> None:
    nothing = line(span({}, trace="ff" * 16, name="ping"))
    result = harvest(tmp_path, asked("Where?"), nothing)
    assert (result.code, len(cases_of(result.out))) == (1, 1)
    assert f"left out  {'ff' * 16}: it doesn't say what was asked\n" in result.err
    result = harvest(tmp_path, nothing)
    assert (result.code, result.out) == (2, "")
    assert "has no trace that can become a case; nothing was written" in result.err


def test_nothing_is_overwritten_or_written_without_need(tmp_path: Path) -> None:
    (tmp_path / "mine.eval.yaml").write_text("mine")
    one = asked("Where?")
    result = harvest(tmp_path, one, options=("-o", "mine.eval.yaml"))
    assert (result.code, (tmp_path / "mine.eval.yaml").read_text()) == (2, "mine")
    result = harvest(tmp_path, one, options=("-o", "new.eval.yaml", "--dry-run"))
    assert (result.code, result.out) == (0, "would write new.eval.yaml: 1 case of 1 trace\n")
    assert not (tmp_path / "new.eval.yaml").exists()
    assert harvest(tmp_path, one, options=("-o", "new.json")).code == 2


@pytest.mark.parametrize(
    ("text", "said_of_it"),
    [("{", "traces.jsonl: it is not JSON"), ("", "traces.jsonl: it is empty")],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, text: str, said_of_it: str) -> None:
    result = harvest(tmp_path, text)
    assert (result.code, result.out) == (2, "")
    assert said_of_it in result.err
    assert evalcase("harvest", "nowhere.jsonl", cwd=tmp_path).code == 2
    assert evalcase("harvest", "traces.jsonl", "--only", "fast", cwd=tmp_path).code == 2


TEXT = st.text(st.characters(codec=None) | st.sampled_from(" \n\t#:-{}[]\u2028\x85\x00\x1b'\""))


@given(TEXT.filter(str.strip), TEXT.filter(bool), TEXT, TEXT)
def test_any_text_is_the_same_again_when_the_suite_is_loaded(
    question: str, answer: str, key: str, error: str
) -> None:
    def whole(text: str) -> str:
        return text.encode("utf-8", "replace").decode()

    call = {"type": "tool_call", "name": "t", "arguments": {key: question}}
    parts = [call, {"type": "text", "content": answer}]
    own = {
        "gen_ai.input.messages": said(question, "user"),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
    }
    told = line(chat("", attributes=own, error=error))
    with TemporaryDirectory() as folder:
        (Path(folder) / "evalcase.toml").write_text("[harvest]\ndefaults = false\n")
        result = harvest(Path(folder), told, options=("-o", "new.eval.yaml"))
        assert result.code == 0, result.err
        (case,) = library.load(Path(folder) / "new.eval.yaml")
    assert [each["content"] for each in case.input] == [whole(question)]
    called, text = case.expected_output
    assert called.tool_calls[0].arguments == {whole(key): whole(question)}
    assert text["content"] == whole(answer)
