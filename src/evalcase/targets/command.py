"""Any program as a target: started once per trial, or kept as a worker that is given one JSON
object per line. In a shell line a placeholder becomes `"$EVALCASE_PROMPT"` and the like, with the
value in that variable, so that no text of a case can become part of the program."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack
from shlex import split
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar, Literal

from msgspec.structs import asdict

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.answers import note_end, read_beside, read_output
from evalcase.targets.base import (
    describe_question,
    key_of_question,
    last_user_content,
    list_faults,
    warn_of_hidden,
    write_content,
)
from evalcase.targets.transcripts import FORMATS, TranscriptFormat, is_last_event, read_transcript
from evalcase.tracing.context import HEADER, VARIABLE, PendingCalls, TraceContext
from evalcase.types.answer import Answer
from evalcase.types.message import Message, named_file, parts_of
from evalcase.types.options import Count, Seconds, Text, Texts, about
from evalcase.types.problem import Finding
from evalcase.types.read_options import fields_of
from evalcase.types.target import (
    Question,
    Surroundings,
    Target,
    TargetKind,
    TargetOptions,
    Traits,
    WorkspaceOptions,
)
from evalcase.types.value import JSON, replace
from evalcase.types.workspace import Isolation, Space
from evalcase.util.calls import CALLS
from evalcase.util.code import program_sources
from evalcase.util.files import read_start
from evalcase.util.processes import LineWorkers, Output, Process, Watch, hide_paths, process_in
from evalcase.util.project import find_program, find_script
from evalcase.util.snapshots import without_git
from evalcase.util.text import Template, list_some

_VALUES: dict[str, Callable[[Question], str]] = {
    "case_id": lambda question: question.case,
    "conversation_id": lambda question: question.conversation_id or "",
    "repeat": lambda question: str(question.repeat),
    "attempt": lambda question: str(question.attempt),
    "session": lambda question: question.session,
    "turn": lambda question: str(question.turn),
    "workspace": lambda question: question.workspace.path if question.workspace else "",
    "home": lambda question: question.workspace.home if question.workspace else "",
}
_FILES = {"input_file": "input.json", "prompt_file": "prompt.txt", "output_file": "output.json"}
PLACEHOLDERS = ("prompt", *_VALUES, *_FILES, "project")
_AGENTV_NAMES = {
    "PROMPT": "prompt", "EVAL_ID": "case_id", "ATTEMPT": "attempt", "FILES": "files",
    "GUIDELINES": "guidelines", "PROMPT_FILE": "prompt_file", "OUTPUT_FILE": "output_file",
}  # fmt: skip
"""The placeholders of AgentV, by ours."""
_SHELL_WORDS = frozenset({"|", "||", "&&", "&", ";", ">", ">>", "<", "<<", "2>", "2>&1", "&>"})
_REPLY_KEYS = frozenset({
    "id", "case", "answer", "usage", "token_usage", "cost_usd", "duration_ms", *CALLS,
})  # fmt: skip


class ProgramOptions(WorkspaceOptions, frozen=True, kw_only=True):
    isolation: Annotated[
        Isolation,
        about(
            "What it sees in a workspace: `none` hides nothing; with `bwrap`, `docker:IMAGE` or "
            "`podman:IMAGE` it sees the system, the workspace, a home and `mounts`.",
            example="bwrap",
        ),
    ] = "none"
    mounts: Annotated[
        Texts,
        about("Files and folders to show it nevertheless, read-only, from the project folder."),
    ] = ()
    time_s: Annotated[
        Seconds | None,
        about(
            "How long it may work on an answer. What it has done by then is graded, with the "
            "finish reason `max_time`."
        ),
    ] = None
    idle_s: Annotated[
        Seconds | None, about("How long it may print nothing, before the trial is errored.")
    ] = None
    max_output_bytes: Annotated[Count, about("How many bytes of output to keep.")] = 10000000


class CommandOptions(ProgramOptions, frozen=True, kw_only=True):
    command: Annotated[
        tuple[str, ...] | Text | None,
        about("The program and its arguments; with `shell`, one text.", elsewhere=("cmd",)),
    ] = None
    shell: Annotated[bool, about("Run the text with `/bin/sh -c`.")] = False
    cwd: Annotated[
        Text | None,
        about("The folder to run it in; by default, the project folder.", elsewhere=("workdir",)),
    ] = None
    env: Annotated[
        dict[str, str], about("More environment variables.", elsewhere=("environment",))
    ] = {}
    stdin: Annotated[
        Literal["json", "text", "none"] | None,
        about(
            "What it reads; by default `json`, or `none` if a placeholder has the input.",
            elsewhere=("input",),
        ),
    ] = None
    output: Annotated[
        Literal["auto", "text", "json", TranscriptFormat] | None,
        about(
            "How to read its output, or the transcript of a coding agent.", elsewhere=("format",)
        ),
    ] = None
    mode: Annotated[
        Literal["once", "worker"],
        about("`once` starts it for each trial; a `worker` keeps running."),
    ] = "once"
    workers: Annotated[
        Count | None, about("The maximum number of worker processes.", decides_answer=False)
    ] = None
    command_template: Annotated[
        Text | None, about("A command as in AgentV, instead of `command`.")
    ] = None
    trace: Annotated[
        bool, about("Set TRACEPARENT, so that its spans join the trace of the trial.")
    ] = False
    files_format: Annotated[
        Text | None, about("For `command_template`: how to write each of `{FILES}`.")
    ] = None

    @property
    def is_agentv(self) -> bool:
        return self.command_template is not None

    @property
    def template(self) -> Template:
        if self.command_template is not None:
            return Template([self.command_template], _AGENTV_NAMES)
        words = [self.command] if isinstance(self.command, str) else [*(self.command or ())]
        return Template([*words], PLACEHOLDERS)

    @property
    def used(self) -> set[str]:
        """The placeholders in the command, by our names."""
        return {_AGENTV_NAMES.get(name, name) for name in self.template.used}

    @property
    def files_template(self) -> Template:
        return Template([self.files_format or "{path}"], ("path", "basename"))

    @property
    def given_stdin(self) -> str:
        has_input = self.is_agentv or self.used & {"prompt", "prompt_file", "input_file"}
        return self.stdin or ("none" if has_input else "json")

    def conflicts(self) -> Iterator[Finding]:
        command, used, is_agentv = self.command, self.template.used, self.is_agentv
        is_worker, is_text = self.mode == "worker", isinstance(command, str)
        name = "command_template" if is_agentv else "command"
        for option, template in ((name, self.template), ("files_format", self.files_template)):
            for _, message in template.faults():
                yield Finding((option,), f"`{option}`: {message}")
        if command is None and not is_agentv:
            example: list[JSON] = ["./agent", "--fast"]
            what, hint = "a target of kind `command` needs `command`", f"for example {example}"
            yield Finding((), what, hint, code="missing-option", example=("command", example))
        names = ", ".join(f"{{{each}}}" for each in sorted(used))
        no_file = "has no {OUTPUT_FILE}, where the answer is read from"
        once = f"has {names}, but a worker is started once for many cases"
        a_list = "is a list of texts, not a string; a shell line is one text, with shell = true"
        alone = "can't be combined with `command_template`, which replaces it"
        form = "can't be combined with mode = 'worker', which has a form of its own"
        alive = "goes with a program that is started for each trial, not with a worker"
        is_alone = self.isolation != "none"
        yield from list_faults(
            (name, is_agentv and "OUTPUT_FILE" not in used, no_file),
            (name, is_worker and used, once),
            ("files_format", self.files_format and not is_agentv, "needs `command_template`"),
            ("command", is_agentv and command is not None, alone),
            ("command", command == (), "is an empty list"),
            ("command", self.shell and command and not is_text, "is one text with `shell`"),
            ("command", is_text and not self.shell, a_list),
            ("workers", not is_worker and self.workers, 'goes with mode = "worker" only'),
            ("output", is_agentv and self.output is not None, alone),
            ("output", is_worker and self.output is not None, form),
            ("stdin", is_worker and self.stdin is not None, form),
            ("isolation", is_worker and is_alone, alive),
            ("time_s", is_worker and self.time_s, alive),
            ("idle_s", is_worker and self.idle_s, alive),
            ("cwd", is_alone and self.cwd, "can't be combined with `isolation`"),
            ("mounts", self.mounts and not is_alone, "goes with `isolation`, which hides files"),
        )


def _split_words(value: str) -> dict[str, JSON]:
    """`command:./agent --fast "two words"`: quotes as in a shell, and nothing else of one."""
    try:
        words: list[JSON] = [*split(value)]
        meant = next((word for word in split(value, posix=False) if word in _SHELL_WORDS), None)
    except ValueError as error:
        raise ConfigError(f"command target: {error}: {value}") from None
    if meant is not None:
        way = "write command:sh -c '…', or put it in quotes if it is an argument"
        raise ConfigError(f"command target: `{meant}` is for a shell: {way}")
    return {"command": words}


class CommandTarget(Target):
    kind: ClassVar[TargetKind] = TargetKind(
        "command", "Runs a program.", CommandOptions,
        value="command", split_value=_split_words, runs_code=True,
    )  # fmt: skip

    def __init__(self, options: CommandOptions, surroundings: Surroundings) -> None:
        self._options = options
        self._surroundings = surroundings
        self._template = options.template
        self._used = options.used
        self._shell = options.shell or options.is_agentv
        self._stdin = options.given_stdin
        self._sees_object = self._stdin == "json" or "input_file" in self._used
        self._cwd = os.path.join(os.path.abspath(surroundings.root), options.cwd or "")
        self._watch = None
        if options.output in FORMATS:
            self._watch = Watch(options.time_s, options.idle_s, is_last_event)
        elif options.time_s or options.idle_s:
            self._watch = Watch(options.time_s, options.idle_s)
        self._most_workers = (options.workers or 1) if options.mode == "worker" else None
        self._workers: LineWorkers | None = None
        self._free = asyncio.Semaphore()
        self._files: dict[str, str] | None = None
        self._traces = PendingCalls()
        bounds = [each for each in (self._most_workers, options.concurrency) if each is not None]
        stateless = "session" not in self._used if options.stateless is None else options.stateless
        self.traits = Traits(
            min(bounds, default=None), caching="keyed", stateless=stateless,
            holds_sessions=self._most_workers is not None and not stateless, workspace=True,
            only_reads=True, seen=self._traces.seen_of if options.trace else None,
        )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        return {**self._surroundings.environment, **self._options.env}

    async def open(self) -> None:
        self._check_program()
        if self._most_workers is not None:
            warn = self._surroundings.warn
            self._workers = LineWorkers(self._start_worker, _object_to_reply, warn)
            self._free = asyncio.Semaphore(self._most_workers)

    def _check_program(self) -> None:
        if not os.path.isdir(self._cwd):
            raise ConfigError(f"command target: `cwd` is not a folder: {self._cwd}")
        is_in_image = self._options.isolation not in ("none", "bwrap")
        name = "{" if self._shell or is_in_image else self._template.texts[0]
        if "{" not in name and find_program(name, self._cwd, self._environment()) is None:
            what = f"there is no program `{name}` to run"
            if self.kind.name != "command":
                what += ": install it, or name its path with `program`"
            raise ConfigError(f"{self.kind.name} target: {what}")

    async def close(self) -> None:
        if self._workers is not None:
            await self._workers.close()

    async def end_session(self, session: str) -> None:
        if self._workers is not None:
            self._workers.release(session)

    async def answer(self, question: Question) -> Answer:
        ask = self._run if self._workers is None else self._ask_worker
        if not self._options.trace:
            return await ask(question, None)
        with self._traces.start(question) as trace:
            return replace(await ask(question, trace), trace=trace.trace)

    async def _ask_worker(self, question: Question, trace: TraceContext | None) -> Answer:
        assert self._workers is not None, "open() comes first"
        asked = describe_question(question)
        if trace is not None:
            asked[HEADER] = trace.traceparent
        session = question.session if self.traits.holds_sessions else None
        async with self._free:
            reply = await self._workers.exchange(asked, session)
        if "error" in reply:
            text = str(reply["error"]).encode(errors="backslashreplace").decode()
            raise TargetError(f"the worker says: {text}")
        if reply["answer"] is None:
            raise TargetError("the worker's answer is null", kind="protocol")
        for name in reply.keys() - _REPLY_KEYS:
            self._surroundings.warn(f"{name!r} in a worker's reply is not read")
        return read_beside(reply, "answer", self._surroundings.warn)

    async def _run(self, question: Question, trace: TraceContext | None) -> Answer:
        options = self._options
        if not options.is_agentv and not self._sees_object:
            hint = "{input_file}, or JSON on stdin, has all of them"
            sees = "the command sees the last user message"
            warn_of_hidden(self._surroundings.warn, question, sees, hint)
        with ExitStack() as stack:
            folder = ""
            if self._used & _FILES.keys():
                temporary = TemporaryDirectory(prefix="evalcase-", ignore_cleanup_errors=True)
                folder = stack.enter_context(temporary)
            environment = self._environment()
            argv = self._write_argv(question, folder, environment)
            if trace is not None:
                environment[VARIABLE] = trace.traceparent
            stdin = None
            if self._stdin != "none":
                is_text = self._stdin == "text"
                stdin = self._prompt(question).encode() if is_text else _to_line(question)
            space = question.workspace
            async with self._start(space, argv, environment, folder) as process:
                code, output = await process.run(stdin, self._watch)
                if process.stopped == "idle":
                    what = f"the command printed nothing for {options.idle_s:g} s"
                    raise TargetError(what, kind="timeout", details=process.details())
                # Coding agents exit with a code of their own, and say more in their transcript.
                if code != 0 and (options.output not in FORMATS or not output.data.strip()):
                    raise process.failure(self._name_command(space, argv), output.data)
                if "output_file" in self._used:
                    output = self._read_file(process, folder)
                if space is not None:
                    output = output._replace(data=hide_paths(space, output.data))
                return self._read(output, process, code)

    def _start(
        self, space: Space | None, argv: list[str], environment: dict[str, str], folder: str
    ) -> AbstractAsyncContextManager[Process]:
        most_bytes = self._options.max_output_bytes
        if space is None:
            if self._options.isolation != "none":
                raise TargetError("`isolation` needs cases with a `workspace`", kind="workspace")
            return Process(argv, self._cwd, environment, most_bytes)
        cwd = self._enter_workspace(space, argv, environment)
        writable = [folder] if folder else []
        return process_in(space, argv, environment, most_bytes, cwd=cwd, writable=writable)

    def _enter_workspace(self, space: Space, argv: list[str], environment: dict[str, str]) -> str:
        """The folder to run in: the workspace, unless the target names one of its own."""
        if self._options.cwd is not None:
            return self._cwd
        if os.path.dirname(argv[0]) and not os.path.isabs(argv[0]):
            argv[0] = os.path.join(self._cwd, argv[0])  # a program of the project
        for name in environment.keys() - without_git(environment).keys():
            del environment[name]
        environment |= {"PWD": space.path, "GIT_CEILING_DIRECTORIES": os.path.dirname(space.path)}
        environment |= space.env
        return space.path

    def _name_command(self, space: Space | None, argv: list[str]) -> str:
        """How a failure begins: with what to write if only the project has the file it runs."""
        script = find_script(argv)
        if space is None or script is None or self._options.cwd is not None:
            return "the command"
        in_workspace = os.path.lexists(os.path.join(space.path, script))
        if in_workspace or not os.path.isfile(os.path.join(self._cwd, script)):
            return "the command"
        hint = f"write `{{project}}/{script}` for that of the project"
        return f"the workspace has no `{script}`: {hint}; the command"

    def _read_file(self, process: Process, folder: str) -> Output:
        try:
            path = os.path.join(folder, _FILES["output_file"])
            # An isolated program could leave a link to what it can't see.
            links = self._options.isolation == "none"
            return Output(*read_start(path, self._options.max_output_bytes, links=links))
        except OSError as error:
            if process.stopped is not None:
                return Output(b"", truncated=False)
            message = f"the command left no answer in its output file: {error.strerror}"
            raise TargetError(message, kind="protocol", details=process.details()) from None

    def _read(self, output: Output, process: Process, code: int) -> Answer:
        """The answer. Standard error is kept where there is no text."""
        how = "agentv" if self._options.is_agentv else self._options.output or "auto"
        stopped = "max_time" if process.stopped == "time" else None
        try:
            match how:
                case "auto" | "text" | "json" | "agentv":
                    answer = read_output(output, how, self._surroundings.warn)
                    answer = replace(answer, messages=note_end(answer.messages, stopped))
                case _ if output.truncated:
                    what = "the transcript is larger than `max_output_bytes`"
                    raise TargetError(what, kind="protocol")
                case _:
                    answer = read_transcript(output.data, how, exit_code=code, stopped=stopped)
                    denied = [call.name for call in answer.tool_calls if call.get("denied")]
                    if denied:
                        named = list_some(denied[:5], len(denied))
                        self._surroundings.warn(f"the agent was denied calls of tools: {named}")
        except TargetError as error:
            error.details |= {"stderr": process.stderr} if process.stderr else {}
            raise
        if not process.stderr or answer.text.strip() or answer.tool_calls:
            return answer
        return replace(answer, stderr=process.stderr)

    # The question in arguments, variables, stdin and files.

    def _write_argv(
        self, question: Question, folder: str, environment: dict[str, str]
    ) -> list[str]:
        values = {
            name: self._value(_AGENTV_NAMES.get(name, name), question, folder)
            for name in self._template.used
        }
        if not self._shell:
            return self._template.fill_texts(values)

        def as_word(name: str, value: str) -> str:
            variable = f"EVALCASE_{name.upper()}"
            environment[variable] = value
            return f'"${variable}"'

        words = {name: as_word(name, value) for name, value in values.items()}
        if "FILES" in words:
            template, files = self._options.files_template, list[str]()
            for number, path in enumerate(question.files.values(), 1):
                parts = {"path": path, "basename": os.path.basename(path)}
                used = {name: as_word(f"{name}_{number}", parts[name]) for name in template.used}
                files += template.fill_texts(used)
            words["FILES"] = " ".join(files)
        return ["/bin/sh", "-c", *self._template.fill_texts(words)]

    def _value(self, name: str, question: Question, folder: str) -> str:
        """The value of a placeholder, by our name for it."""
        if name in _FILES:
            path = os.path.join(folder, _FILES[name])
            if name != "output_file":
                is_prompt = name == "prompt_file"
                data = self._prompt(question).encode() if is_prompt else _to_line(question)
                with open(path, "wb") as file:
                    file.write(data)
            return path
        match name:
            case "project":
                return os.path.abspath(self._surroundings.root)
            case "prompt":
                return self._prompt(question)
            case "attempt" if self._options.is_agentv:  # it counts from 0
                return str(question.attempt - 1)
            case "files" | "guidelines":  # files are filled in later
                return ""
        return _VALUES[name](question)

    def _prompt(self, question: Question) -> str:
        if not self._options.is_agentv:
            return write_content(last_user_content(question))
        texts = [(each.role, _write_text(each, question.files)) for each in question.messages]
        if len({role for role, _ in texts}) < 2:
            return "\n\n".join(text for _, text in texts)
        # As AgentV writes several messages.
        return "\n\n".join(f"@[{role.capitalize()}]:\n{text}" for role, text in texts)

    def _start_worker(self) -> Process:
        argv = self._template.fill_texts({})
        argv = ["/bin/sh", "-c", *argv] if self._shell else argv
        return Process(argv, self._cwd, self._environment(), self._options.max_output_bytes)

    # The program as a part of cache keys and versions.

    def cache_key(self, question: Question) -> JSON:
        if self._files is None:
            self._files = self.sources()
        options = asdict(self._options)
        for name in fields_of(TargetOptions):
            del options[name]  # they decide how it is asked, and not what it answers
        asked = key_of_question(question)
        if self._sees_object:
            asked["suite"] = question.suite
        return {"options": options, "files": dict(self._files), "asked": asked}

    def sources(self) -> dict[str, str]:
        path = self._environment().get("PYTHONPATH", "")
        return program_sources(self._template.texts, self._cwd, self._surroundings.root, path)


def _to_line(question: Question) -> bytes:
    return json.dumps(describe_question(question)).encode() + b"\n"


def _write_text(message: Message, found: dict[str, str]) -> str:
    parts = parts_of(message.content)
    if not parts:
        return write_content(message.content)
    texts = []
    for part in parts:
        file = named_file(part) if part["type"] == "file" else None
        texts.append(write_content([part]) if file is None else f"<file: {found.get(file, file)}>")
    return "\n\n".join(text for text in texts if text)


def _object_to_reply(reply: dict[str, JSON]) -> str | None:
    is_one = ("answer" in reply) != ("error" in reply)
    return None if is_one else "must have either `answer` or `error`"
