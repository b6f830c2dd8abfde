import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.python import PythonTarget
from evalcase.types.value import replace
from tests.targets.questions import answer_all, ask, question, target_of

Make = Callable[..., PythonTarget]

LONG = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "Bye"},
]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a target of a module that is written to disk."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def make(source: str, name: str = "agent:answer", **options: object) -> PythonTarget:
        sys.modules.pop("agent", None)
        (tmp_path / "agent.py").write_text(dedent(source))
        return target_of(PythonTarget, function=name, root=str(tmp_path), **options)  # type: ignore[arg-type]

    return make


@pytest.mark.parametrize(
    "source",
    [
        "def answer(prompt): return prompt.upper()",
        "async def answer(question): return question.upper()",
        "def answer(*args): return args[0].upper()",
        "def answer(prompt, temperature=0): return prompt.upper()",
        "answer = str.upper",
        "from functools import partial\ndef f(x, p): return p.upper()\nanswer = partial(f, 1)",
        "async def f(prompt): return prompt.upper()\nanswer = lambda prompt: f(prompt)",
        "async def answer(messages): return messages[0]['content'].upper()",
        "from evalcase import Question\ndef answer(it: Question): return it.text.upper()",
        "class Agent:\n    def __call__(self, prompt): return prompt.upper()\nanswer = Agent()",
        "class Agent:\n    async def __call__(self, p): return p.upper()\nanswer = Agent()",
        "class Agent:\n    def answer(self, prompt): return prompt.upper()\nanswer = Agent()",
        "class answer:\n    async def answer(self, prompt): return prompt.upper()",
        "def answer(): return lambda prompt: prompt.upper()",
        "async def answer():\n    async def f(prompt): return prompt.upper()\n    return f",
    ],
)
def test_functions_and_objects_of_every_kind_answer(make: Make, source: str) -> None:
    assert ask(make(source)).text == "HI"


def test_hidden_messages_are_warned_of(make: Make) -> None:
    said: list[str] = []
    target = make("def answer(prompt): return prompt", warn=said.append)
    asyncio.run(answer_all(target, [question(), question(LONG, id="long")]))
    (warning,) = said
    assert warning == (
        "`agent:answer` sees the last user message only, and cases have several messages; a "
        "parameter named `messages`, or annotated as `Question`, would see all"
    )


def test_none_is_an_error(make: Make) -> None:
    with pytest.raises(
        TargetError, match=r"returned None: does the function end without a `return`"
    ):
        ask(make("def answer(prompt): pass"))


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_exceptions_of_the_function_come_out_as_they_are(make: Make, kind: str) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        ask(make(f"{kind} answer(prompt): return 1 / 0"))
    assert str(caught.traceback[-1].path).endswith("agent.py")


@pytest.mark.parametrize("raised", ["SystemExit(3)", "StopIteration()", "asyncio.CancelledError()"])
def test_what_a_plain_function_raises_to_end_the_engine_is_an_error(
    make: Make, raised: str
) -> None:
    with pytest.raises(TargetError):
        ask(make(f"import asyncio\ndef answer(prompt): raise {raised}"))


# Set-up and tear-down.

LOG = "log = []\n"


@pytest.mark.parametrize(
    "source",
    [
        """
        class answer:
            def open(self): log.append("in")
            def close(self): log.append("out")
            def answer(self, prompt): return prompt
        """,
        """
        class answer:
            async def __aenter__(self):
                log.append("in")
                return lambda prompt: prompt
            async def __aexit__(self, *_): log.append("out")
        """,
        """
        from contextlib import asynccontextmanager
        @asynccontextmanager
        async def answer():
            log.append("in")
            yield lambda prompt: prompt
            log.append("out")
        """,
    ],
)
def test_set_up_and_tear_down_happen_once_per_run(make: Make, source: str) -> None:
    target = make(LOG + dedent(source))
    answers = asyncio.run(answer_all(target, [question("a"), question("b")]))
    assert [str(getattr(answer, "text", answer)) for answer in answers] == ["a", "b"]
    assert sys.modules["agent"].log == ["in", "out"]


def test_a_class_or_factory_gets_its_arguments(make: Make) -> None:
    source = """
        class Agent:
            def __init__(self, model): self.model = model
            def answer(self, prompt): return self.model
        def build(model): return Agent(model)
    """
    for name in ("agent:Agent", "agent:build"):
        assert ask(make(source, name, arguments={"model": "m1"})).text == "m1"


def test_failed_set_up_is_an_error_with_its_place(make: Make, tmp_path: Path) -> None:
    target = make("class answer:\n    def __init__(self):\n        raise OSError('no key')")
    with pytest.raises(TargetError, match="set-up failed: OSError: no key") as caught:
        ask(target)
    assert f"{tmp_path / 'agent.py'}:3" in str(caught.value)


# Threads and time.


def test_sync_functions_run_side_by_side(make: Make) -> None:
    source = """
        import threading
        barrier = threading.Barrier(20, timeout=60)
        def answer(prompt):
            barrier.wait()
            return prompt
    """

    async def run() -> list[str]:
        target = make(source)
        await target.open()
        try:
            answers = await asyncio.gather(*(target.answer(question()) for _ in range(20)))
            return [answer.text for answer in answers]
        finally:
            await target.close()

    assert asyncio.run(run()) == ["Hi"] * 20


def test_fault_06_a_hung_sync_function_does_not_keep_the_process_alive(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import time\ndef answer(p):\n    time.sleep(600)\n")
    program = """
        import asyncio
        from evalcase.targets.python import PythonTarget
        from tests.targets.questions import ask, of_value, target_of
        try:
            ask(target_of(PythonTarget, function="agent:answer", root={root!r}), limit_s=0.1)
        except TimeoutError:
            print("given up")
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(program).format(root=str(tmp_path))],
        capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "given up\n", "")


# What can't be used.


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        ("", "agent", "did you mean `agent:FUNCTION`?"),
        ("", "agent:", "did you mean `agent:FUNCTION`?"),
        ("", "agent.py:answer", "did you mean `./agent.py:answer`?"),
        ("", "sub/agent.py:f", "did you mean `./sub/agent.py:f`?"),
        ("", "agnt:answer", "there is no module `agnt`; did you mean `agent`?"),
        ("", "agent.sub:answer", "there is no module `agent.sub`"),
        ("def answr(p): pass", "agent:answer", "has no `answer`: did you mean `answr`?"),
        ("answer = 3", "agent:answer", "`agent:answer` is int, which can't be called"),
        (
            "def answer(): return 'hi'",
            "agent:answer",
            "was called to make the agent, as it takes no question or has",
        ),
        ("def answer(**all): return 'hi'", "agent:answer", "as it takes no question"),
        ("def answer(a, b): pass", "agent:answer", "question: there is nothing to give to `b`;"),
        (
            "class Agent:\n    def __init__(self, model): pass\n    def answer(self, q): return q",
            "agent:Agent",
            "it can't be made: missing a required argument: 'model'; `arguments` of",
        ),
        ("import nowhere_at_all", "agent:answer", "No module named 'nowhere_at_all'"),
        ("x = 1\n1 / 0", "agent:answer", "division by zero ({file}:2)"),
        ("x = (", "agent:answer", "({file}:1)"),
        ("import sys\nsys.exit(1)", "agent:answer", "SystemExit: 1 ({file}:2)"),
    ],
)
def test_what_can_not_be_used_is_a_config_error_that_names_the_cause(
    make: Make, tmp_path: Path, source: str, name: str, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        ask(make(source, name))
    assert said.format(file=tmp_path / "agent.py") in str(caught.value)


def test_sessions_that_are_left_are_all_torn_down(make: Make, tmp_path: Path) -> None:
    target = make(
        f"""
        class Agent:
            def __init__(self, session):
                self.session = session

            def answer(self, text):
                return text

            def close(self):
                with open({str(tmp_path / "closed")!r}, "a") as file:
                    file.write(self.session)
                if self.session == "a":
                    raise OSError("it is stuck")
        """,
        "agent:Agent",
    )
    given = [question("Hi", session=each) for each in "abc"]
    with pytest.raises(OSError, match="it is stuck"):
        asyncio.run(answer_all(target, given))
    assert (tmp_path / "closed").read_text() == "abc"


@pytest.mark.parametrize(
    "source",
    [
        "def answer(prompt): prompt['k'].append(1); return prompt",
        "def answer(messages): it = messages[0].content; it['k'].append(1); return it",
        "def answer(metadata): metadata['k'].append(1); return metadata",
        "def answer(q: 'Question'): q.metadata['k'].append(1); return q.metadata",
        "def answer(q: 'Question'): it = q.messages[0].content; it['k'].append(1); return it",
    ],
)
def test_what_is_given_is_a_copy_for_each_attempt(make: Make, source: str) -> None:
    given = question([{"role": "user", "content": {"k": []}}], metadata={"k": []})
    answers = asyncio.run(answer_all(make(source), [given, replace(given, attempt=2)]))
    assert [getattr(answer, "content", None) for answer in answers] == [{"k": [1]}, {"k": [1]}]


@pytest.mark.parametrize("parameter", ["case", "it: Case", "it: 'evalcase.Case'", "q, case=None"])
def test_the_case_is_refused_before_anything_is_asked(make: Make, parameter: str) -> None:
    target = make(f"import evalcase\nfrom evalcase import Case\ndef answer({parameter}): pass")
    with pytest.raises(ConfigError) as caught:
        asyncio.run(target.open())
    assert "what is expected must not be seen by what is tested" in str(caught.value)
    assert "the annotation `Question` gives all the rest" in str(caught.value)


def test_a_class_that_is_a_target_is_given_the_question(make: Make) -> None:
    source = """
        import evalcase
        class answer(evalcase.Target):
            async def answer(self, question):
                return evalcase.Answer.of_text(f"{question.case} {question.text}")
    """
    assert ask(make(source)).text == "one Hi"


@pytest.mark.parametrize(
    ("parameters", "warned"),
    [
        ("text", ["no file; a parameter", "no audio; a parameter"]),
        ("text, files", ["no audio; a parameter"]),
        ("text, messages", []),
    ],
)
def test_content_parts_are_given_as_their_joined_text(
    make: Make, tmp_path: Path, parameters: str, warned: list[str]
) -> None:
    """As `{prompt}` has it; what has no text is told where nothing else shows it."""
    (tmp_path / "a.txt").touch()
    parts = [
        {"type": "text", "text": "Sum "}, {"type": "file", "path": "a.txt"},
        {"type": "audio", "data": ""}, {"type": "text", "value": "up."},
    ]  # fmt: skip
    said: list[str] = []
    target = make(f"def answer({parameters}): return text.upper()", warn=said.append)
    given = question([{"role": "user", "content": parts}], suite=str(tmp_path / "s.yaml"))
    assert ask(target, given).text == "SUM UP."
    assert [part in each for part, each in zip(warned, said, strict=True)] == [True] * len(said)
