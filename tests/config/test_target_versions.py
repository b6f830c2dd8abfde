"""A run is mixed by options that decide an answer, and by no others; an option says which."""

from pathlib import Path

from evalcase.config.targets import version_of
from tests.config.test_registry import install, run_with
from tests.for_each import for_each

CHAT = {"kind": "openai", "model": "m"}
WORKER = {"kind": "command", "command": ["agent"], "mode": "worker"}


@for_each(
    ("options", "name", "value"),
    [
        *[(WORKER, name, 2) for name in ("concurrency", "rpm", "tpm", "workers")],
        (CHAT, "price", {"input": 1, "output": 2}),
        (CHAT, "batch", True),
        (CHAT, "batch_poll_s", 5),
        (CHAT, "connect_timeout_s", 3),
    ],
)
def test_options_that_decide_no_answer(
    options: dict[str, object], name: str, value: object
) -> None:
    assert version_of(None, {**options, name: value}) == version_of(None, options)


@for_each(
    ("options", "name", "value"),
    [
        (CHAT, "model", "other"),
        (CHAT, "params", {"temperature": 1}),
        (CHAT, "max_output_bytes", 9),
        (WORKER, "command", ["other"]),
        (WORKER, "env", {"A": "b"}),
        (WORKER, "stateless", True),
        ({"kind": "nosuch"}, "workers", 3),
        ({"kind": "python", "function": "a:b"}, "workers", 3),
    ],
)
def test_options_that_may(options: dict[str, object], name: str, value: object) -> None:
    assert version_of(None, {**options, name: value}) != version_of(None, options)


PLUG_IN = """
    from typing import Annotated
    from evalcase import Target, TargetKind, TargetOptions, options

    class Options(TargetOptions):
        tone: Annotated[str, options.about("How.")] = ""
        pool: Annotated[float, options.about("How many.", decides_answer=False)] = 1

    class Loud(Target):
        kind = TargetKind("loud", "Shouts.", Options, value="tone", value_needed=False, priced=True)

        def __init__(self, options, surroundings):
            self.options = options

        async def answer(self, question):
            from evalcase import Answer
            return Answer.of_text(question.text)
"""


def test_a_target_of_another_package_says_the_same_of_its_own(tmp_path: Path) -> None:
    install(tmp_path, PLUG_IN, loud="Loud")
    script = """
        from evalcase.config.targets import version_of
        plain = version_of(None, {"kind": "loud"})
        assert version_of(None, {"kind": "loud", "pool": 3}) == plain
        assert version_of(None, {"kind": "loud", "tone": "x"}) != plain
    """
    run_with(tmp_path, script)
