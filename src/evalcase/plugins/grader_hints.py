"""What to write in place of a grader that nobody knows: one of ours that is near, or that does what
another tool's grader of that name does."""

from __future__ import annotations

from collections.abc import Mapping

from evalcase.model.nearest import hint_at, nearest_meaning
from evalcase.plugins.registry import list_names
from evalcase.resolve.grader_names import NEGATED

_MODEL = "`judge`, by a criterion of your own"
_MEANING = "{judge: …} for what is meant; `similarity` compares characters"
_FAITHFUL = "{judge: {rubric: faithful}}, and what it may rest on as its `context`"
_HARMLESS = "{judge: {rubric: harmless}}"
_RELEVANT = "{judge: {rubric: relevant}}"
_CALLED = "{tool_calls: {needed: {NAME: 1}}}"
_CODE = "`python`, by a function of yours"
_EXACT = "{equals: …}, or `expected`, which compares with `expected_output`"

INSTEAD: Mapping[str, str] = {
    "agent-rubric": _MODEL,
    "answer-correctness": "{judge: {rubric: correct}}, and `expected_output` for what is true",
    "answer-relevance": _RELEVANT,
    "answer-relevancy": _RELEVANT,
    "answer-similarity": _MEANING,
    "bert-score": _CODE,
    "bertscore": _CODE,
    "bias": _HARMLESS,
    "bleu": _CODE,
    "bleu-score": _CODE,
    "classifier": _MODEL,
    "composite": "`weighted`, or `all`, with the graders in it",
    "contains_all": "{contains: […]}, which needs all of them",
    "contains_any": "{contains: {any: […]}}",
    "contains-html": _CODE,
    "contains-json": "`json`: all of the answer is the JSON, or one fenced block",
    "contains-sql": _CODE,
    "contains-xml": _CODE,
    "context-faithfulness": _FAITHFUL,
    "context-precision": "{judge: {rubric: context_precision}}",
    "context-recall": "{judge: {rubric: context_recall}}",
    "context-relevance": "{judge: {rubric: context_precision}}",
    "contextual-precision": "{judge: {rubric: context_precision}}",
    "contextual-recall": "{judge: {rubric: context_recall}}",
    "contextual-relevancy": "{judge: {rubric: context_precision}}",
    "conversation-relevance": "{judge: {rubric: conversation_goal}}",
    "cosine-similarity": _MEANING,
    "embedding-similarity": _MEANING,
    "exact": _EXACT,
    "exact-match": _EXACT,
    "execution-metrics": "`tool_calls`, `tokens`, `cost` and `latency`, each with its limit",
    "factuality": "{judge: {rubric: correct}}, and `expected_output` for what is true",
    "faithfulness": _FAITHFUL,
    "field-accuracy": "`fields`, a mapping of paths to values or matchers",
    "finish-reason": "`finish`, with the words of the service itself, such as `end_turn`",
    "g-eval": "`judge`, with its steps as `rubrics`",
    "gleu": _CODE,
    "guardrails": "`finish: {refusal: forbid}`, or `judge`",
    "hallucination": _FAITHFUL,
    "human": "`evalcase calibrate --label`, for labels of people",
    "is-html": _CODE,
    "is-refusal": "{judge: {rubric: refuses}}",
    "is-sql": _CODE,
    "is-valid-function-call": "`trajectory`, with the calls that are expected",
    "is-valid-openai-function-call": "`trajectory`, with the calls that are expected",
    "is-valid-openai-tools-call": "`trajectory`, with the calls that are expected",
    "is-xml": _CODE,
    "javascript": "`fields` or `length` for what is simple, else `python` or `script`",
    "levenshtein": "`similarity`, whose `threshold` is a share of characters, and no distance",
    "max-score": _CODE,
    "meteor": _CODE,
    "model-graded-factuality": "{judge: {rubric: correct}}, and `expected_output` for what is true",
    "moderation": _HARMLESS,
    "not_contains": "{type: contains, value: …, not: true}",
    "perplexity": _CODE,
    "perplexity-score": _CODE,
    "pi": _MODEL,
    "rouge": _CODE,
    "rouge-l": _CODE,
    "rouge-n": _CODE,
    "rouge-score": _CODE,
    "rubrics": "{judge: {rubrics: […]}}",
    "ruby": "`script`, with the program and its arguments",
    "search-rubric": _MODEL,
    "select-best": _MODEL,
    "semantic-similarity": _MEANING,
    "similar": _MEANING,
    "skill-used": _CALLED,
    "task-completion": "{judge: {rubric: task_completed}}",
    "token-usage": "{tokens: {value: …, input: …, output: …}}",
    "tool-called": _CALLED,
    "tool-call-f1": "`trajectory`, whose score is the share of calls that were made",
    "tool-used": _CALLED,
    "tool-trajectory": "`trajectory`, with `order` for `mode` and the calls as `value`",
    "toxicity": _HARMLESS,
    "trace-error-spans": "{tool_calls: {errors: forbid}}",
    "trace-span-count": "{tool_calls: {max: …}}",
    "trace-span-duration": "`latency`, in seconds",
    "trajectory:goal-success": "{judge: {rubric: task_completed}}",
    "trajectory:step-count": "{tool_calls: {min: …, max: …}}",
    "trajectory:tool-args-match": "{trajectory: [{tool: NAME, input: {…}}]}",
    "trajectory:tool-sequence": "{trajectory: [NAME, NAME]}; its `order` says how exactly",
    "trajectory:tool-used": _CALLED,
    "webhook": "`script`, with a program that asks it",
    "word-count": "{length: {min: …, max: …, unit: words}}",
}
"""What graders of other tools are here whose meaning, or whose options, are others."""

_NEAR = {
    "match": "equals",
    "code": "python", "function": "python", "callable": "python", "command": "script",
    "includes": "contains", "pattern": "regex", "string_check": "equals", "choice": "one_of",
    "text_similarity": "similarity", "is_json": "json", "is_valid_json": "json",
    "jsonschema": "json_schema", "json_match": "json_equals", "tool_correctness": "trajectory",
    "trajectory_match": "trajectory", "max_tool_calls": "tool_calls", "max_duration": "latency",
    "length_limit": "length",
}  # fmt: skip
"""What other tools call graders that do nearly the same."""
_OF_TEXT = ("contains", "equals", "starts_with", "ends_with", "regex", "judge")
"""Graders whose argument is a text, so that words after one of these names may be its argument."""
_JUDGES = ("llm", "judge", "rubric", "geval", "g_eval", "model_grade", "score_model")


def hint_for_grader(name: str) -> str:
    """What to write for a name that no grader has."""
    bare = name.removeprefix(NEGATED)
    plain = bare.lower().removesuffix("_metric")
    instead = INSTEAD.get(bare) or INSTEAD.get(plain) or INSTEAD.get(plain.replace("_", "-"))
    if instead is not None:
        return f"write {instead}" + ("; `not: true` inverts it" if bare != name else "")
    known = list_names("graders")
    first, _, rest = name.strip().partition(" ")
    if rest:
        said = f"{{judge: …}} to have a model say whether it is so: “{name.strip():.60}”"
        word = first.removesuffix(":")
        return (
            f"write {{{word}: {rest.strip():.60}}}, or {said}"
            if word in _OF_TEXT
            else f"write {said}"
        )
    word, _, value = name.partition(":")
    if value and word in known:
        return f"write {{{word}: {value}}}"
    meant = {**_NEAR, **{each: each for each in known}}
    hint = hint_at(nearest_meaning(name.replace("-", "_"), meant))
    if hint is not None:
        return hint
    if any(word in name.lower().replace("-", "_") for word in _JUDGES):
        return "did you mean `judge`? It asks a model; without options, by `criteria` and `rubrics`"
    return f"there are {', '.join(known)}"
