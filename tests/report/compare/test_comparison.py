from collections.abc import Mapping
from typing import Any

from evalcase.report.compare import Comparison, compare_sides
from evalcase.report.comparison_forms import comparison_lines
from evalcase.report.evaluated import pair_targets
from evalcase.report.gates import Compared, find_gated, gates_exit_code, judge_gates, read_gate
from evalcase.report.sides import ChangeKind, Side
from evalcase.report.terminal import Screen
from tests.for_each import for_each
from tests.report.compare.fakes import FakeKept, side

EXAMPLE = "FFFFFFFFF" + "PPP" + "P" * 139 + "F" * 49, "PPPPPPPPP" + "FFF" + "P" * 139 + "F" * 49
"""9 fixed and 3 broken of 200."""
SCREEN = """\
No significant difference between base and head.

base     before
head     after

200 cases compared: 9 fixed, 3 broken, 0 changed, 188 the same

broken s.eval.yaml: c9 (passed → failed)
  input     c9?
  differs
  base       │ head
  passed     │ failed

broken   c10, c11
fixed    c0, c1, c2, c3, c4, c5, c6, c7, c8

            base   head  change  95% interval      p
pass rate  71.0%  74.0%    +3.0  -0.6 to +6.6  0.146

               median     p95  total  head ÷ base
latency  base  1.00 s  1.00 s  200 s
         head  1.00 s  1.00 s  200 s  no estimate

p is from the exact McNemar test.
These cases detect a change of 5.7 points or more 4 times out of 5; to detect a
change of 5 points you would need about 254 cases.
"""


def compare(base: Side, head: Side) -> Comparison:
    return compare_sides(base, head, pair_targets(base.stored.targets, head.stored.targets))


def compared(
    base: Mapping[str, str] | str, head: Mapping[str, str] | str, *gates: str, **options: Any
) -> Compared:
    comparison = compare(side(base, "before"), side(head, "after"))
    gated = find_gated(comparison, "passed", ())
    judged = judge_gates(comparison, gated, [read_gate(gate) for gate in gates])
    return Compared(comparison, gated, judged, **options)


def counts(comparison: Comparison) -> dict[str, int]:
    return {str(kind): count for kind, count in comparison.tracks[0].counts.items() if count}


# The example to the digit


def test_the_example_on_a_screen() -> None:
    lines = list(comparison_lines(compared(*EXAMPLE, limit=1), Screen()))
    assert "\n".join(lines) + "\n" == SCREEN


def test_of_a_gate_that_errors_keep_open_the_way_out_is_named() -> None:
    found = compared("PPE", "PPP", "broken", "worse")
    text = " ".join(" ".join(comparison_lines(found, Screen())).split())
    assert "gate not decided: 1 trial of base errored; run it again, or" in text
    assert "allow that with --max-errors 1" in text
    assert "--fail-on broken: not decided, nothing found against it so far" in text


# Kinds


def test_kinds() -> None:
    comparison = compare(side("PFPFPPSEU"), side("FPPEEPPEU"))
    assert counts(comparison) == {
        "broken": 2, "fixed": 1, "changed": 1, "same": 4, "skipped": 1
    }  # fmt: skip


@for_each(
    ("base", "head", "kind"),
    [("P", "PPP", "same"), ("PF", "PPFF", "same"), ("PPFF", "PFFF", "changed")],
)
def test_how_often_a_case_was_tried_is_no_change(base: str, head: str, kind: ChangeKind) -> None:
    found = compare(side({"a": base}), side({"a": head}))
    assert counts(found) == {kind: 1}


def test_shares_of_trials() -> None:
    track = compare(side({"a": "PPFF", "b": "P"}), side({"a": "PFFF", "b": "P"})).tracks[0]
    assert track.passed.worse == 0
    assert track.trials is not None
    assert (track.trials.base, track.trials.head, track.trials.worse) == (0.75, 0.625, 1)


# Gates


@for_each(
    ("base", "head", "gate", "code"),
    [
        ("P" * 20, "P" * 20, "broken", 0),
        ("P" * 20, "P" * 19 + "F", "broken", 1),
        ("PF" * 10, "FP" * 10, "broken", 1),
        ("PF" * 10, "FP" * 10, "worse", 0),
        ("P" * 20, "P" * 19 + "F", "worse", 1),
        ("P" * 20, "P" * 19 + "F", "significantly-worse", 0),
        ("P" * 20, "P" * 14 + "F" * 6, "significantly-worse", 1),
        ("F" * 6, "P" * 6, "significantly-worse", 0),
        ("P" * 5, "F" * 5, "significantly-worse", 2),
        ("P" * 20, "P" * 20, "worse-than:0.02", 1),
        ("P" * 400, "P" * 400, "worse-than:0.02", 0),
        ("P" * 400, "P" * 398 + "FF", "worse-than:0.02", 0),
        ("P" * 400, "P" * 395 + "F" * 5, "worse-than:0.02", 1),
        ("P" * 9 + "U", "P" * 10, "worse", 0),
        ("E" + "P" * 9, "P" * 10, "worse", 3),
        ("P" * 10, "P" * 9 + "E", "broken", 3),
        ("", "", "broken", 3),
        ("SSS", "SSS", "worse", 3),
    ],
)  # fmt: skip
def test_gates(base: str, head: str, gate: str, code: int) -> None:
    comparison = compare(side(base), side(head))
    gated = find_gated(comparison, "passed", ()) if comparison.pairs else []
    judged = judge_gates(comparison, gated, [read_gate(gate)])
    assert gates_exit_code(judged) == code, judged


# What has no pair


def several(label: str, **targets: str) -> Side:
    """Cases of several targets."""
    kept = FakeKept({})
    for target, letters in targets.items():
        cases = {f"c{number}": letter for number, letter in enumerate(letters)}
        kept._results += FakeKept(cases, target)._results
    kept.targets = tuple(targets)
    return Side(kept, label)  # type: ignore[arg-type]


def judged_code(base: Side, head: Side, *gates: str) -> int:
    comparison = compare(base, head)
    gated = find_gated(comparison, "passed", ())
    return gates_exit_code(judge_gates(comparison, gated, [read_gate(gate) for gate in gates]))


@for_each(
    ("gates", "code"), [(["removed"], 1), (["broken"], 3), (["broken", "worse", "removed"], 1)]
)
def test_a_target_that_head_lacks_is_not_passed_over(gates: list[str], code: int) -> None:
    base, head = several("base", a="P" * 9, b="P" * 9), several("head", a="P" * 9)
    assert judged_code(base, head, *gates) == code
    assert compare(base, head).lost == {"b": 9}


def test_errors_of_a_target_without_a_pair_count() -> None:
    base, head = several("base", a="P" * 9), several("head", a="P" * 9, b="E" * 9)
    assert judged_code(base, head, "broken") == 3


def test_errors_of_added_cases_count() -> None:
    assert judged_code(side("P" * 9), side("P" * 9 + "E" * 9), "broken") == 3
    assert judged_code(side("P" * 9), side("P" * 9 + "P" * 9), "broken") == 0


# Repeats
