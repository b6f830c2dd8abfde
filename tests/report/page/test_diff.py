"""What differs between two texts, as the page finds it: its script is run by node."""

import random

from tests.report.page.in_node import run_script

TRY = """
const pairs = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(pairs.map(([left, right]) => diffTexts(left, right))));
"""


def diff(pairs: list[tuple[str, str]]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = run_script(["diff.js"], TRY, pairs)
    return found


def test_known_differences() -> None:
    a, b, c = diff([("the red fox", "the brown fox"), ("same", "same"), ("", "new")])
    assert a["runs"] == [
        [True, "the ", "the "], [False, "red", "brown"], [True, " fox", " fox"]
    ]  # fmt: skip
    assert b["runs"] == [[True, "same", "same"]]
    assert c["runs"] == [[False, "", "new"]]


def test_nothing_is_lost_and_what_is_the_same_is_the_same() -> None:
    chance = random.Random(3)
    words = ["one", "two", "three", " ", " ", "\n", ", ", "ß", "日本", "🙂", "."]
    pairs = [
        tuple("".join(chance.choices(words, k=chance.randint(0, 40))) for _ in range(2))
        for _ in range(300)
    ]
    for (left, right), found in zip(pairs, diff(pairs), strict=True):  # type: ignore[arg-type]
        runs: list[list[object]] = found["runs"]  # type: ignore[assignment]
        assert "".join(str(run[1]) for run in runs) == left
        assert "".join(str(run[2]) for run in runs) == right
        assert all(run[1] == run[2] for run in runs if run[0])
