"""Any program as a target: started once per trial, or kept as a worker.

The program and its arguments are a list, and no shell is involved unless it is asked for. Options
and placeholders are in `command_options`, the reading of answers in `outputs`. An exit code other
than 0 is an error of the trial, and is not tried again.
"""

from __future__ import annotations

from typing import Any

from evalcase.errors import ConfigError, TargetError
from evalcase.model.answer import Answer
from evalcase.model.trial import Trial, TrialKey
from evalcase.system.files import read_start
from evalcase.system.processes import tree
from evalcase.system.processes.pipes import Output
from evalcase.system.processes.process import Process
from evalcase.targets import Warn, ignore
from evalcase.targets.fingerprint import asked, program_files
from evalcase.targets.process.command_input import CommandInput, command_input
from evalcase.targets.process.command_options import CommandOptions, read_command_options
from evalcase.targets.process.worker import Workers
from evalcase.targets.reading.outputs import read_output
from evalcase.targets.shown import hidden


class CommandTarget:
    """Runs a program. For its options see `command_options`."""

    def __init__(self, *, root: str = ".", warn: Warn = ignore, **options: object) -> None:
        self._options = read_command_options(options, root)
        self._shown = options
        self._root = root
        self._words: dict[str, str] | None = None
        self._warn = warn
        self._warned = False
        self._is_open = False
        self._tries: dict[TrialKey, int] = {}
        self._workers = Workers(self._options, warn) if self._options.workers else None

    @classmethod
    def from_value(cls, value: str, *, root: str = ".", warn: Warn = ignore) -> CommandTarget:
        """`command:./agent --fast "two words"`: quotes as in a shell, and nothing else of one."""
        from shlex import split

        try:
            argv = split(value)
        except ValueError as error:
            raise ConfigError(f"command target: {error}: {value}") from None
        return cls(command=argv, root=root, warn=warn)

    @property
    def concurrency(self) -> int | None:
        """How many answers it can give at once; None where it sets no bound."""
        return self._options.workers

    async def open(self) -> None:
        self._options.check_place()
        tree.adopt_orphans()
        self._is_open = True

    async def answer(self, trial: Trial) -> Answer:
        if self._workers is not None:
            return await self._workers.answer(trial)
        self._warn_of_hidden(trial)
        with command_input(self._options, trial, self._count_try(trial)) as given:
            most_bytes = self._options.max_output_bytes
            async with Process(given.argv, self._options.cwd, given.env, most_bytes) as process:
                output = await self._run(process, given)
        answer = read_output(output, self._options.output, self._warn)
        self._tries.pop(trial.key, None)
        return answer

    def cache_key(self, trial: Trial) -> dict[str, Any]:
        """What decides an answer: the command with its files, and what it is given."""
        if self._words is None:
            texts = self._options.template.texts
            self._words = program_files(texts, self._options.cwd, self._root)
        return {"options": self._shown, "files": self._words, "asked": asked(trial)}

    async def close(self) -> None:
        try:
            if self._workers is not None:
                await self._workers.close()
        finally:
            if self._is_open:
                self._is_open = False
                tree.disown_orphans()

    async def _run(self, process: Process, given: CommandInput) -> Output:
        code, stdout = await process.run(given.stdin)
        if code != 0:
            raise process.failure("the command", stdout.data)
        if given.output_file is None:
            return stdout
        try:
            return Output(*read_start(given.output_file, self._options.max_output_bytes))
        except OSError as error:
            message = f"the command left no answer in its output file: {error.strerror}"
            raise TargetError(message, kind="protocol", details=process.details()) from None

    def _count_try(self, trial: Trial) -> int:
        """Which try this is. Only trials that have not succeeded are remembered."""
        if not self._options.template.used & {"attempt", "ATTEMPT"}:
            return 1
        count = self._tries[trial.key] = self._tries.get(trial.key, 0) + 1
        return count

    def _warn_of_hidden(self, trial: Trial) -> None:
        if self._warned or not sees_last_only(self._options):
            return
        what = hidden(trial.case)
        if what is not None:
            self._warned = True
            hint = "{input_file}, or JSON on stdin, has all of them"
            self._warn(f"the command sees the last user message only; {what}; {hint}")


def sees_last_only(options: CommandOptions) -> bool:
    return (
        not options.agentv and options.stdin != "json" and "input_file" not in options.template.used
    )
