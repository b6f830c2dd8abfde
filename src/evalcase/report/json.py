"""JSON for programs: one object for a run's figures, a trial or a comparison."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict

from evalcase.report.aggregate import rate_of
from evalcase.report.evaluated import Evaluated
from evalcase.report.figures import Effort, Figures, Mean, Slice
from evalcase.report.formats import Reported
from evalcase.stats.intervals import LEVEL
from evalcase.store.folder import folder_of_run
from evalcase.store.stored import StoredRun
from evalcase.types.answer import Answer
from evalcase.types.grade import Grade
from evalcase.types.result import Result
from evalcase.types.value import encode_object
from evalcase.util.text import BIDI_MARKS, STEERING

_UNSAFE_IN_JSON = re.compile(f"[{STEERING}{BIDI_MARKS}]")


def json_text(value: object) -> str:
    """Indented JSON that keeps non-ASCII text, but escapes what a terminal or UTF-8 can't take."""
    return escape_steering(json.dumps(value, indent=2, ensure_ascii=False))


def escape_steering(json_text: str) -> str:
    """Escape the characters that steer a terminal in a text that is JSON."""
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


def json_line(value: object) -> str:
    """JSON on one line, as in a JSONL file."""
    return escape_steering(json.dumps(value, ensure_ascii=False))


def figures_object(figures: Figures) -> dict[str, Any]:
    judging = figures.judging

    def by_name(parts: dict[str, Slice]) -> dict[str, Any]:
        return {name: part_object(part) for name, part in parts.items()}

    return {
        "level": LEVEL,
        "interval": figures.interval,
        "cluster": figures.cluster,
        "unclustered": figures.unclustered,
        "without_interval": figures.without or None,
        "judging": judging and {
            "asked": judging.asked, "cached": judging.cached,
            "tokens": {"input": judging.input_tokens, "output": judging.output_tokens},
            "seconds": judging.seconds, "usd": judging.cost_usd,
        },
        "all": {
            **part_object(figures.all),
            "not_run": figures.not_run,
            **effort_object(figures.effort),
        },
        "by_target": {
            name: {**part_object(part), **effort_object(figures.efforts[name])}
            for name, part in figures.by_target.items()
        },
        "by_suite": by_name(figures.by_suite),
        "by_tag": by_name(figures.by_tag),
        "by_grader": by_name(figures.by_grader),
        "by_vars": {name: by_name(parts) for name, parts in figures.by_vars.items()},
    }  # fmt: skip


def rate_object(part: Slice) -> dict[str, Any]:
    return {
        **mean_object(part.rate, "rate"),
        **asdict(part.cases),
        "unfinished": part.unfinished,
        "failures_up_to": part.failures_up_to,
        "without_errors": mean_object(part.without_errors, "rate"),
    }


def part_object(part: Slice) -> dict[str, Any]:
    repeats = part.repeats
    return {
        **rate_object(part),
        "score": mean_object(part.score),
        "repeats": repeats and {
            "cases": repeats.cases, "fewest": repeats.fewest, "most": repeats.most,
            "flaky": repeats.flaky,
            "trials_passed": mean_object(repeats.share),
            "pass_at": [
                {"k": each.k, "any": mean_object(each.any), "all": mean_object(each.all)}
                for each in repeats.pass_at
            ],
            "standard_errors": repeats.passes and repeats.passes._asdict(),
        },
    }  # fmt: skip


def mean_object(mean: Mean, name: str = "mean") -> dict[str, Any]:
    found = {name: mean.value, "low": mean.low, "high": mean.high, "n": mean.n}
    return found if mean.clusters is None else {
        **found, "clusters": mean.clusters, "rough": mean.is_rough
    }  # fmt: skip


def effort_object(effort: Effort) -> dict[str, Any]:
    return {
        "answers": effort.answers,
        "latency": {
            "n": len(effort.durations), "median_s": effort.median_s, "p95_s": effort.p95_s,
            "total_s": effort.total_s,
        },
        "tokens": {
            "n": effort.reported, "input": effort.input_tokens, "output": effort.output_tokens
        },
        "cost": {
            "usd": effort.cost_usd, "unpriced": effort.unpriced, "cached": effort.cached
        },
        "scores": list(effort.scores),
    }  # fmt: skip


def trial_object(stored: StoredRun, result: Result) -> dict[str, Any]:
    """A trial of a run. What a record of a stranger's hasn't got is null."""
    case, outcome = stored.find_case(*result.key[:2]), stored.outcome(result)
    data = case._data if case is not None else {}
    answer = result.answer or Answer(())
    return {
        "suite": result.key.suite,
        "case": result.key.case,
        "target": result.key.target,
        "repeat": result.key.repeat,
        "verdict": result.verdict,
        "score": result.score,
        "input": case.written_messages or None if case is not None else None,
        "expected_output": data.get("expected_output"),
        "answer": list(answer.messages) if result.answer is not None else None,
        "grades": [_object_of_grade(grade) for grade in result.grades],
        "failure": result.failure and encode_object(result.failure),
        "usage": answer.usage and encode_object(answer.usage),
        "cost_usd": answer.cost_usd,
        "duration_s": result.duration_s,
        "cached": answer.cached,
        "scrubbed": answer.scrubbed,
        "truncated": answer.truncated,
        "earlier": answer.earlier and encode_object(answer.earlier),
        "steps": [encode_object(step) for step in answer.steps],
        "steps_cut": answer.steps_cut,
        "trace": answer.trace,
        "tags": data.get("tags", []),
        "metadata": data.get("metadata", {}),
        "conversation_id": data.get("conversation_id"),
        "vars": data.get("vars", {}),
        "run": stored.run.id,
        "run_status": stored.end.status,
        "run_trials": stored.totals.trials.total,
        "run_folder": folder_of_run(stored.run),
        "failed_of": stored.run.about.failed_of,
        "mixed": result.key.target in stored.mixed,
        "repeats": outcome.repeats,
        "case_verdict": outcome.verdict,
        "pass_rate_needed": outcome.pass_rate,
        "question_hash": result.question_hash,
        "answer_hash": answer.fingerprint() if result.answer is not None else None,
        "grading_hash": result.grading_hash,
        **({} if result.workspace is None else {"workspace": encode_object(result.workspace)}),
        **(_object_of_talk(result) if result.turns or (case and case.is_conversation) else {}),
    }


def _object_of_talk(result: Result) -> dict[str, Any]:
    """What a conversation has beside: its turns, how it ended, and who played its user. One that
    errored has no turns that count."""
    turns = [
        {
            "said": list(said), "answer": list(answer.messages), "duration_s": took_s,
            "cost_usd": answer.cost_usd, "usage": answer.usage and encode_object(answer.usage),
        }
        for said, answer, took_s in result.exchanges
    ]  # fmt: skip
    user = result.user and encode_object(result.user)
    return {"turns": turns, "ending": result.ending, "user": user}


def _object_of_grade(grade: Grade) -> dict[str, Any]:
    data: dict[str, Any] = {
        "grader": grade.grader,
        "score": grade.score,
        "passed": grade.passed,
        "reason": grade.reason,
        "details": grade.details,
    }
    if grade.turn is not None:
        data["turn"] = grade.turn
    if grade.weight != 1:
        data["weight"] = grade.weight
    if grade.required:
        data["required"] = True
    if grade.indicator:
        data["indicator"] = True
    if grade.asked:
        data["asked"], data["cached"] = grade.asked, grade.cached
        data["usage"] = grade.usage and encode_object(grade.usage)
        data["cost_usd"], data["asking_s"] = grade.cost_usd, grade.asking_s
    if grade.failure is not None:
        data["failure"] = encode_object(grade.failure)
    return data


def write_json(reported: Reported) -> Iterator[str]:
    """One object, a case in each line, so that a million need not be held."""
    evaluated, _, figures = reported.read()
    summary = json_line(summary_object(evaluated, figures_object(figures)))
    yield f'{summary[:-1]}, "cases": [\n'
    before = None
    for case in reported.stored.cases(reported.results()):
        if before is not None:
            yield before + ",\n"
        before = json_line(asdict(case))
    if before is not None:
        yield before + "\n"
    yield "]}\n"


def write_jsonl(reported: Reported) -> Iterator[str]:
    for result in reported.results():
        yield json_line(trial_object(reported.stored, result)) + "\n"


def summary_object(
    evaluated: Evaluated, figures: dict[str, object] | None = None
) -> dict[str, object]:
    """What `--json` prints; without figures, with those that follow from the totals."""
    totals, selected = evaluated.totals, evaluated.run.about.selected
    if figures is None:
        ended_early = evaluated.decision is not None or evaluated.is_biased
        figures = {
            "level": LEVEL, "interval": "sequence" if ended_early else "wilson", "cluster": None,
            "all": {**rate_object(rate_of(evaluated)), "not_run": evaluated.not_run},
        }  # fmt: skip
    return {
        "run": evaluated.run.id, "path": os.path.abspath(evaluated.run.path),
        "status": evaluated.status,
        **asdict(totals.cases), "pass_rate": totals.pass_rate, "unfinished": totals.unfinished,
        "not_run": evaluated.not_run,
        "figures": figures,
        "trials": asdict(totals.trials),
        "cost_usd": totals.cost_usd, "grading_usd": totals.grading_usd,
        "users_usd": totals.users_usd, "lost_usd": totals.lost_usd,
        "spent_usd": totals.spent_usd, "cached": totals.cached,
        "duration_s": evaluated.duration_s,
        "decision": evaluated.decision and encode_object(evaluated.decision),
        "failed_of": evaluated.run.about.failed_of,
        "selected": selected and {"cases": selected.chosen, "of": selected.total},
        "mixed": list(evaluated.mixed),
        "grading": None if evaluated.graded_by is None else evaluated.graded_by._asdict(),
    }  # fmt: skip
