"""Assertions of promptfoo that no grader stands for, each with the reason, and with what comes
near where something does."""

from __future__ import annotations


class NoCounterpartError(Exception):
    """Why there is no grader that says the same."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


_CODE = "code in another language is not carried over"
_MODEL = "a model of its own scores it"
_TEXTS = "no grader compares texts in this way"
_SPANS = "it looks at spans of a trace"
_BESIDE = "it compares answers of several targets"
_TOOLS = "its judge has tools"
_FUNCTION = "write a function, and name it as `python: checks:function`"


def _hint_at_rubric(name: str) -> str:
    return f"`judge: {{rubric: {name}}}` asks a judge about that"


WITHOUT_COUNTERPART: dict[str, tuple[str, str | None]] = {
    "javascript": (_CODE, _FUNCTION),
    "ruby": (_CODE, _FUNCTION),
    "webhook": ("no grader asks an address", "`script` runs a program, which may ask one"),
    "contains-json": ("no grader looks for JSON within a text", "`json` reads the whole answer"),
    "is-html": ("no grader reads HTML", _FUNCTION),
    "contains-html": ("no grader reads HTML", _FUNCTION),
    "is-xml": ("no grader reads XML", _FUNCTION),
    "contains-xml": ("no grader reads XML", _FUNCTION),
    "is-sql": ("no grader reads SQL", _FUNCTION),
    "contains-sql": ("no grader reads SQL", _FUNCTION),
    "similar": (
        "it compares embeddings",
        "`similarity` compares characters; a judge says whether two texts mean the same",
    ),
    "levenshtein": (
        "it counts edits, and `similarity` is their share of the text",
        "`similarity` with a threshold of 1 minus the edits divided by the length is near",
    ),
    "bleu": (_TEXTS, None),
    "gleu": (_TEXTS, None),
    "meteor": (_TEXTS, None),
    "rouge-n": (_TEXTS, None),
    "perplexity": ("targets report no probabilities", None),
    "perplexity-score": ("targets report no probabilities", None),
    "classifier": (_MODEL, None),
    "moderation": (_MODEL, _hint_at_rubric("harmless")),
    "guardrails": ("targets report no guardrails", None),
    "pi": (_MODEL, None),
    "is-refusal": ("it looks for phrases", _hint_at_rubric("refuses")),
    "answer-relevance": ("it compares embeddings of questions", _hint_at_rubric("relevant")),
    "context-recall": ("its score is counted otherwise", _hint_at_rubric("context_recall")),
    "context-relevance": ("its score is counted otherwise", _hint_at_rubric("context_precision")),
    "context-faithfulness": ("its score is counted otherwise", _hint_at_rubric("faithful")),
    "conversation-relevance": ("its score is counted otherwise", _hint_at_rubric("relevant")),
    "trajectory:goal-success": ("it judges a trace", _hint_at_rubric("task_completed")),
    "search-rubric": (_TOOLS, "`judge` judges by what it is shown"),
    "agent-rubric": (_TOOLS, "`judge` judges by what it is shown"),
    "select-best": (_BESIDE, "`evalcase compare` compares two runs"),
    "max-score": (_BESIDE, "`evalcase compare` compares two runs"),
    "human": ("nobody is asked during a run", None),
    "skill-used": ("targets report no skills", None),
    "trace-span-count": (_SPANS, None),
    "trace-span-duration": (_SPANS, None),
    "trace-error-spans": (_SPANS, None),
    "is-valid-function-call": ("the tools are those of the provider", "`trajectory` grades calls"),
    "is-valid-openai-function-call": (
        "the tools are those of the provider", "`trajectory` grades calls",
    ),
    "is-valid-openai-tools-call": (
        "the tools are those of the provider", "`trajectory` grades calls",
    ),
    "tool-call-f1": (
        "it counts tools, however often they are called",
        "`trajectory` with `order: any_order` and `extra: forbid` is near",
    ),
}  # fmt: skip
WITHOUT_COUNTERPART |= {
    f"similar:{metric}": WITHOUT_COUNTERPART["similar"] for metric in ("cosine", "dot", "euclidean")
}
