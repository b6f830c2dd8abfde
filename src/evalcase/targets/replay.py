"""Answers that were given before: from a file with one JSON object per line, or from the journal of
an earlier run, where the last result of a trial counts, and costs nothing again."""

from __future__ import annotations

import asyncio
import os
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, BinaryIO, ClassVar, NoReturn

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.answers import EXTRAS, read_beside
from evalcase.targets.base import part_of
from evalcase.targets.replies import put_together
from evalcase.types.answer import Answer, Earlier, Exchange, Turn, split_turns
from evalcase.types.message import Step
from evalcase.types.options import Text, about
from evalcase.types.problem import find_nearest
from evalcase.types.target import (
    Question,
    Surroundings,
    Target,
    TargetKind,
    TargetOptions,
    Traits,
    TrialKey,
)
from evalcase.types.value import JSON, decode_object, replace
from evalcase.util.calls import CALLS
from evalcase.util.files import digest_file, open_file
from evalcase.util.json import (
    DEEPEST_ROW,
    JOURNAL,
    MAX_LINE,
    body_of,
    fault_in,
    parse_body,
    parse_object,
)
from evalcase.util.snapshots import apply_patch, read_patch
from evalcase.util.text import as_json, list_some, write_count

_ANSWERS = ("answer", "messages", "text")
_KNOWN = frozenset({
    *_ANSWERS, *CALLS,
    "case", "id", "suite", "target", "repeat", "input", "question_hash", "turns", "said",
    "usage", "token_usage", "cost_usd", "duration_s", "duration_ms", "truncated", "scrubbed",
    "steps", "steps_cut", "ends_conversation", "error",
    # The rest of a report in JSONL, which is of that run.
    "verdict", "score", "expected_output", "grades", "failure", "cached", "earlier", "trace",
    "tags", "metadata", "conversation_id", "vars", "run", "run_status", "run_trials", "run_folder",
    "failed_of", "mixed", "repeats", "case_verdict", "pass_rate_needed", "answer_hash",
    "grading_hash", "ending", "user", "workspace",
})  # fmt: skip
_READ = EXTRAS | {*CALLS}
_OF_ALL_TURNS = ("usage", "cost_usd", "duration_s", "earlier", "steps", "steps_cut", "trace")
_MOST_KEYS = 10
_CASE = b'{"type":"case",'
_ANY_REPEAT = 0


class ReplayOptions(TargetOptions, frozen=True, kw_only=True):
    path: Annotated[
        Text, about("The file of answers, or the folder of a stored run.", elsewhere=("file",))
    ]
    target: Annotated[
        Text | None, about("The target whose answers to use, if there are several.")
    ] = None


class ReplayTarget(Target):
    kind: ClassVar[TargetKind] = TargetKind(
        "replay", "Replays stored answers.", ReplayOptions,
        value="path", value_is_path=True, folder_holds=(JOURNAL,),
    )  # fmt: skip

    def __init__(self, options: ReplayOptions, surroundings: Surroundings) -> None:
        self.traits = Traits(
            options.concurrency, caching="useless", only_reads=True, workspace=True
        )
        self._options = options
        self._surroundings = surroundings
        path = os.path.join(surroundings.root, options.path)
        path = os.path.join(path, JOURNAL) if os.path.isdir(path) else path
        self._index = AnswerIndex(path, is_journal=os.path.basename(path) == JOURNAL)
        self._file: BinaryIO | None = None

    async def open(self) -> None:
        index, warn = self._index, self._surroundings.warn
        try:
            # In a stranger's record, a link could lead anywhere.
            self._file = open_file(index.path, links=not index.is_journal)
            index.read(self._file, self._options.target)
        except OSError as error:
            raise ConfigError(f"replay target: {index.path}: {error.strerror}") from None
        for said in [*index.warnings.values()][:_MOST_KEYS]:
            warn(f"replay target: {said}")

    async def answer(self, question: Question) -> Answer:
        assert self._file is not None, "open() comes first"
        row = self._index.read_row(self._file, question)
        _refuse_failed(row)
        if row.get("answer") is not None and self._index.is_journal:
            answer = _read_recorded(row, question)
        else:
            answer = self._read_listed(_find_listed_turn(row, question))
        expect_asked(row, question, self._index.path)
        if question.workspace is not None and question.turn == 1:
            patch = self._find_patch(row, question)
            await asyncio.to_thread(_apply, patch, question)
        return answer

    def _find_patch(self, row: Mapping[str, Any], question: Question) -> bytes:
        """What was changed in the workspace. Raise TargetError where that is unknown: graders would
        look at files that the answer never was about."""
        patch, packed = map(part_of(row, "workspace").get, ("patch", "patch_base64"))
        data = None
        if self._index.is_journal:
            data = read_patch(os.path.dirname(self._index.path), patch)
        elif isinstance(packed, str):
            with suppress(ValueError):
                data = b64decode(packed, validate=True)
        elif isinstance(patch, str) and not patch.endswith(".gz"):
            data = patch.encode()
        if data is None:
            what = "has no patch of its workspace: `evalcase import … --patch FILE` adds one"
            raise TargetError(f"the answer to case `{question.case}` {what}", kind="workspace")
        return data

    def sources(self) -> dict[str, str]:
        """The file of answers. A record has the versions of its targets itself."""
        if self._index.is_journal:
            return {}
        return {self._options.path: digest_file(self._index.path)}

    async def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _read_listed(self, row: dict[str, Any]) -> Answer:
        case = row.get("case", row.get("id"))
        _refuse_failed(row)
        try:
            said = _find_said(row)
        except ValueError as error:
            message = f"the answer to case `{case}` can't be read: {error}"
            raise TargetError(message, kind="protocol") from None
        if said is None:
            named = list_some([f"`{key}`" for key in row][:_MOST_KEYS], len(row))
            what = f"case `{case}` has no answer in {self._index.path}: its line has {named}"
            raise TargetError(f"{what}, and no `answer`, `text` or `messages`", kind="protocol")
        expect_whole(row.get("scrubbed") is True, case)
        kept = {name: row[name] for name in row if name in _READ or name not in _KNOWN}
        answer = read_beside({**kept, "answer": said}, "answer", self._surroundings.warn)
        steps, cut = row.get("steps"), row.get("steps_cut")
        found: tuple[Step, ...] = ()
        with suppress(TypeError, ValueError):
            found = tuple([decode_object(Step, each) for each in steps or ()])
        return replace(
            answer, earlier=_read_earlier(row, answer), steps=found,
            steps_cut=cut if isinstance(cut, int) and cut > 0 else 0,
        )  # fmt: skip


def _apply(patch: bytes, question: Question) -> None:
    assert question.workspace is not None
    try:
        apply_patch(patch, question.workspace.path)
    except OSError as error:
        what = f"the patch of case `{question.case}` doesn't apply: {error}"
        raise TargetError(what, kind="workspace") from None


def _read_recorded(row: dict[str, Any], question: Question) -> Answer:
    """The answer of a journal's row to a turn of the question."""
    try:
        answer, seconds = decode_object(Answer, row["answer"]), row.get("duration_s")
        turns = [decode_object(Turn, each) for each in row.get("turns") or ()]
        exchanges = split_turns(answer, turns) if turns or question.turn > 1 else []
    except (TypeError, ValueError) as error:
        message = f"the recorded answer to case `{question.case}` can't be read: {error}"
        raise TargetError(message, kind="protocol") from None
    if turns or question.turn > 1:
        turn: Exchange = _choose_turn(exchanges, question)
        _expect_same(turn.said, question)
        answer, seconds = turn.answer, turn.duration_s
    expect_whole(answer.scrubbed, question.case)
    # It was paid for in that run, or in one before it.
    earlier = answer.earlier or Earlier(seconds, answer.cost_usd)
    return replace(answer, cached=True, cost_usd=0.0, earlier=earlier, last_at=0)


def _read_earlier(row: Mapping[str, Any], answer: Answer) -> Earlier:
    """The first time and cost of an answer, as far as its row says."""
    for name, per_s in (("duration_s", 1), ("duration_ms", 1000)):
        time = row.get(name)
        if isinstance(time, int | float) and not isinstance(time, bool) and 0 <= time < 1e9:
            return Earlier(time / per_s, answer.cost_usd)
    return Earlier(None, answer.cost_usd)


# Rows of a file of answers.


def _find_said(row: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    """The answer of a row, with the calls that stand beside a text; None if it has neither. Raise
    ValueError if it has several, or a key that is nearly a name of calls: they would be missing."""
    for key in sorted(row.keys() - _KNOWN):
        if (meant := find_nearest(key, CALLS, 0.8)) is not None:
            raise ValueError(f"`{key}` is not read: did you mean `{meant}`?")
    names = [name for name in _ANSWERS if row.get(name) is not None]
    if len(names) > 1:
        raise ValueError(f"`{names[0]}` and `{names[1]}` are two answers: leave one out")
    return row[names[0]] if names else put_together(None, row)


def _refuse_failed(row: Mapping[str, Any]) -> None:
    """Raise TargetError where a row says that there was no answer."""
    failure, error = row.get("failure"), row.get("error")
    if isinstance(failure, dict) and isinstance(failure.get("message"), str):
        raise TargetError(failure["message"], details={"recorded": failure})
    said = error or failure
    if said:
        text = said if isinstance(said, str) else as_json(said)
        raise TargetError(f"the line of the answer says: {text}")


def _find_listed_turn(row: dict[str, Any], question: Question) -> dict[str, Any]:
    """The row for one turn: its `turns` are answers, or the turns of a report in JSONL."""
    turns = row.get("turns")
    if not turns and question.turn == 1:
        return row
    calls = next((name for name in CALLS if row.get(name)), None)
    if calls is not None:
        _refuse_turn(question, f"has `{calls}` beside its turns, and belongs to none of them")
    turn = _choose_turn(turns if isinstance(turns, list) else [turns], question)
    told = {name: value for name, value in row.items() if name not in (*_OF_ALL_TURNS, "turns")}
    if not isinstance(turn, Mapping) or turn.keys().isdisjoint(("said", "answer")):
        return {**told, "answer": turn}
    if isinstance(turn.get("said"), list):
        _expect_same(turn["said"], question)
    return {**told, **turn}


def _choose_turn(turns: Sequence[Any], question: Question) -> Any:  # noqa: ANN401 - an item of any sort
    if question.turn > len(turns):
        had = write_count(max(len(turns), 1), "turn")
        _refuse_turn(question, f"has {had}, and turn {question.turn} is asked")
    return turns[question.turn - 1]


def _expect_same(said: Sequence[Any], question: Question) -> None:
    if not _ends_with(question, said):
        _refuse_turn(question, f"went another way: in turn {question.turn} something else was said")


def _ends_with(question: Question, said: Sequence[Any]) -> bool:
    return list(question.messages[max(0, len(question.messages) - len(said)) :]) == list(said)


def _refuse_turn(question: Question, why: str) -> NoReturn:
    message = f"the recorded conversation of case `{question.case}` {why}"
    raise TargetError(message, kind="protocol")


def expect_asked(row: Mapping[str, Any], question: Question, path: str) -> None:
    """Raise TargetError where a row answers another question than the case asks now. A row from
    elsewhere need not say what was asked."""
    then, said = row.get("question_hash"), row.get("input")
    if then and question.hash:
        is_same = then == question.hash
    elif row.get("turns"):
        is_same = True
    elif isinstance(said, str):
        is_same = said.strip() == question.text.strip()
    else:
        is_ours = isinstance(said, list) and all(isinstance(each, dict) for each in said)
        is_same = not is_ours or _ends_with(question, said or [])
    if not is_same:
        what = "its input, its metadata or a file that it names was changed since"
        message = f"{path} has no answer to what case `{question.case}` asks by now: {what}"
        raise TargetError(message, kind="protocol")


def expect_whole(is_scrubbed: bool, case: object) -> None:
    """Raise TargetError for an answer that was recorded without a secret in it."""
    if is_scrubbed:
        what = "was recorded without a secret that was in it, and is not what was answered"
        raise TargetError(f"the answer to case `{case}` {what}", kind="protocol")


class AnswerIndex:
    """The places of the answers in one file, by case, suite and repeat. Only offsets are in memory:
    there may be a million answers. Each line of a journal is held to its checksum, when it is found
    and when it is used."""

    def __init__(self, path: str, *, is_journal: bool) -> None:
        self.path = path
        self.is_journal = is_journal
        self._offsets: dict[tuple[str | None, int], dict[str, int]] = {}
        """By suite and repeat, then by case: all but the case is shared by many answers."""
        self.warnings: dict[object, str] = {}
        """About keys that are not read, and about a line that is cut short."""

    def read(self, file: BinaryIO, target: str | None) -> None:
        """Take in every answer of a target. Raise ConfigError for a line that makes no sense."""
        targets: set[str] = set()
        for number, offset, line in self._whole_lines(file):
            # The cases of a journal are most of it, and no answers.
            if not line.strip() or (self.is_journal and line.startswith(_CASE)):
                continue
            try:
                row = self._parse(line)
            except ValueError as error:
                self._refuse(f"not JSON: {error}", number)
            name = row.get("target")
            if self.is_journal and row.get("type") != "result":
                continue
            if isinstance(name, str):
                targets.add(name)
            if target is None or name == target:
                self._add(row, number, offset)
        others = f": {', '.join(sorted(targets))}" if targets else ""
        if target is not None and target not in targets:
            self._refuse(f"it has no answers of the target `{target}`{others}")
        if target is None and len(targets) > 1:
            self._refuse(f"several targets have answered; say which by `target`{others}")

    def read_row(self, file: BinaryIO, question: Question) -> dict[str, JSON]:
        """The row with the answer to a question. Raise TargetError if there is none."""
        file.seek(self._find(question))
        line = file.readline(MAX_LINE + 1)
        with suppress(ValueError):
            if not self.is_journal or fault_in(line) is None:
                return self._parse(line)
        raise TargetError(f"{self.path} changed while it was read", kind="protocol")

    def _find(self, question: Question) -> int:
        case, repeats = question.case, (question.repeat, _ANY_REPEAT)
        for repeat in repeats:
            for suite in (question.suite, None):
                offset = self._offsets.get((suite, repeat), {}).get(case)
                if offset is not None:
                    return offset
        elsewhere = [
            cases[case]
            for (_, repeat), cases in self._offsets.items()
            if case in cases and repeat in repeats
        ]
        if len(elsewhere) == 1:
            return elsewhere[0]
        which = "several suites with" if elsewhere else "no answer to"
        which_one = f" (repeat {question.repeat})" if question.repeat > 1 else ""
        message = f"{os.path.basename(self.path)} has {which} case `{case}`{which_one}"
        raise TargetError(message, kind="protocol")

    def _whole_lines(self, file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
        """Every line, with its number and offset. The last one of a journal may be cut short by a
        crash, and its trial was not reported as finished."""
        number, offset = 0, 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            fault = fault_in(line) if self.is_journal else None
            if len(line) > MAX_LINE:
                self._refuse(f"a line is longer than {MAX_LINE:,} bytes", number)
            if fault is not None and line.endswith(b"\n"):
                self._refuse(f"the record is damaged: this line {fault}", number)
            if fault is not None:
                said = f"{self.path}:{number}: this line is cut short, and left out"
                self.warnings[number] = said
                return
            yield number, offset, line
            offset += len(line)

    def _parse(self, line: bytes) -> dict[str, Any]:
        """A row; that of a journal with the parts of its key by name. Raise ValueError."""
        if not self.is_journal:
            return parse_object(line, DEEPEST_ROW)
        row = parse_body(body_of(line))
        key = row.get("key")
        if isinstance(key, list) and len(key) == len(TrialKey._fields):
            row |= zip(TrialKey._fields, key, strict=True)
        return row

    def _add(self, row: dict[str, Any], number: int, offset: int) -> None:
        case, suite, repeat = row.get("case", row.get("id")), row.get("suite"), row.get("repeat")
        is_sound = isinstance(suite, str | None) and isinstance(repeat, int | None)
        if not isinstance(case, str) or not is_sound:
            self._refuse("`case` and `suite` are texts, and `repeat` a number from 1", number)
        cases = self._offsets.setdefault((suite, repeat or _ANY_REPEAT), {})
        if not self.is_journal:
            if case in cases:
                self._refuse(f"a second answer to case `{case}`; number them by `repeat`", number)
            try:
                _find_said(row)
            except ValueError as error:
                self._refuse(str(error), number)
            for key in row.keys() - _KNOWN:
                self.warnings.setdefault(key, f"{self.path}:{number}: `{key}` is not read")
        cases[case] = offset

    def _refuse(self, why: str, line: int | None = None) -> NoReturn:
        place = self.path if line is None else f"{self.path}:{line}"
        raise ConfigError(f"replay target: {place}: {why}")
