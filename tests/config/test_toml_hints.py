"""Tables that a configuration hasn't got: the hint says which is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalcase

OPENAI = '[targets.bot]\nkind = "openai"\nmodel = "m"\n'


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        (f"{OPENAI}temperature = 0\n", "4:1", "did you mean `params`?"),
        (f"{OPENAI}parameters = {{stop = 'a'}}\n", "4:1", "did you mean `params`?"),
        ('[targts.bot]\nkind = "echo"\n', "1:2", "did you mean `targets`?"),
        ('[providers.bot]\nkind = "echo"\n', "1:2", "did you mean `targets`?"),
        ('target = "bot"\n[target.bot]\nkind = "echo"\n', "2:1", "did you mean `targets`?"),
        ('[targets]\nkind = "echo"\n', "2:8", 'write [targets.NAME] and kind = "…" below it'),
        ('[targets.bot]\ntype = "echo"\n', "1:10", 'for example kind = "echo"'),
        ('[judge]\nmodel = "echo"\n', "2:1", "did you mean `target`?"),
        ('[targets.bot]\nkind = "codex"\nargs = [7]\n', "3:8", "write it in quotes"),
    ],
)
def test_a_table_that_is_called_otherwise_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str, hint: str | None
) -> None:
    (tmp_path / "evalcase.toml").write_text(text)
    (tmp_path / "a.eval.yaml").write_text("- {input: hi, expected_output: hi}\n")
    monkeypatch.chdir(tmp_path)
    (problem,) = evalcase.check(".")
    assert (problem.place, problem.hint) == (f"evalcase.toml:{place}", hint)


HTTP = '[targets.bot]\nkind = "http"\nurl = "http://localhost:1"\n'


@pytest.mark.parametrize(
    ("body", "place", "said"),
    [
        ('[targets.bot.body]\na = 1\nq = "{question}"\n', "6:5", "there are {prompt}"),
        ('body = {a = 1, q = ["{question}"]}\n', "4:8", "there are {prompt}"),
    ],
)
def test_a_placeholder_that_is_wrong_is_pointed_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, place: str, said: str
) -> None:
    (tmp_path / "evalcase.toml").write_text(HTTP + body)
    (tmp_path / "a.eval.yaml").write_text("- {input: hi, expected_output: hi}\n")
    monkeypatch.chdir(tmp_path)
    (problem,) = evalcase.check(".")
    assert problem.place == f"evalcase.toml:{place}"
    assert said in problem.message
