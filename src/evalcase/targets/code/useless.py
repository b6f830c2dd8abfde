"""What to write in place of an object that can't be asked: most are clients of services, agents of
frameworks, or functions that were called where they should be given."""

from __future__ import annotations

from inspect import isawaitable, iscoroutine, isgenerator

_METHODS = (
    "invoke", "run_sync", "run", "kickoff", "query", "chat", "predict", "generate", "complete",
    "ask", "respond",
)  # fmt: skip
"""How agents of frameworks are asked, the usual first."""
_WRITE = "write a function, `def answer(text): return …`"


def hint_at_answering(found: object) -> str:
    """How to make a target of an object that is none."""
    if iscoroutine(found):
        found.close()  # nobody waits for it, which Python would complain of
    if isawaitable(found) or isgenerator(found):
        name = getattr(found, "__name__", "answer")
        return f"`{name}(…)` was called already: give the function itself, `{name}`"
    match found:
        case object(chat=object(completions=_)):
            return f'name the model, target="openai:MODEL", or {_WRITE} that calls the client'
        case object(messages=object(create=_)):
            return f'name the model, target="anthropic:MODEL", or {_WRITE} that calls the client'
    for name in _METHODS:
        if callable(getattr(found, name, None)):
            return f"{_WRITE} that calls its `{name}` and returns the text of what comes"
    return _WRITE
