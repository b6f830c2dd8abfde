"""The body that a service sends back to an answer, each of whose parts is picked by a path.

Calls count wherever they are: those that no path leads to are an error of the trial that names
their path, as is a path of calls that is misspelt. Where there are none at all, a path may lead
nowhere: many services leave out what is empty.
"""

from __future__ import annotations

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.message import Message
from evalcase.model.nearest import find_nearest
from evalcase.model.quick_dataclass import dataclass, replace
from evalcase.model.target import Warn
from evalcase.system.processes.pipes import Output
from evalcase.targets.reading.answers import content_message
from evalcase.targets.reading.calls import BadCallsError, calls_message
from evalcase.targets.reading.hidden import find_calls
from evalcase.targets.reading.outputs import How, read_output
from evalcase.targets.reading.replies import HiddenCallsError
from evalcase.targets.reading.shaped import read_json
from evalcase.targets.reading.usage import read_cost, read_usage
from evalcase.targets.web.errors import protocol_error
from evalcase.targets.web.streamed import join_stream, refuse_stream
from evalcase.targets.web.whole_reply import WholeReply
from evalcase.text.json_path import JsonPath, MissingError
from evalcase.text.strict_json import BadJsonError, parse_json

_NEAR = 0.8
"""How like the name of a list a step must be to be that, misspelt."""
_PATHS = "`answer` and `tool_calls` of an http target say where both are"


@dataclass(frozen=True, slots=True)
class ReplyPaths:
    """Where in a body everything is."""

    answer: JsonPath | None
    tool_calls: JsonPath | None
    usage: JsonPath | None
    cost_usd: JsonPath | None
    output: How
    """How a body without a path to its answer is read."""
    counts_calls: bool
    """Whether calls that no path leads to are looked for."""
    stream: JsonPath | None = None
    """Where in each event its text is, if the body is a stream of events."""

    def written(self) -> list[JSON]:
        """What an answer rests on."""
        paths = self.answer, self.tool_calls, self.usage, self.cost_usd, self.stream
        return [self.output, self.counts_calls, *(path.text if path else None for path in paths)]


class ReplyReader:
    def __init__(self, paths: ReplyPaths, warn: Warn) -> None:
        self._paths = paths
        self._warn = warn

    def read(self, reply: WholeReply) -> Answer:
        """The answer. Raise TargetError where there is none, or one that can't be trusted."""
        paths, output = self._paths, reply.output
        if paths.stream is not None:
            return Answer((content_message(join_stream(output, paths.stream)),))
        if paths.output != "text":
            refuse_stream(reply)
        value = self._read_value(output)
        calls = self._find_calls(value, output)
        if paths.answer is None:
            answer = self._read_whole(output, calls)
        else:
            answer = self._read_at(paths.answer, value, output, calls)
        # A path may lead into a reply whose calls were read with it.
        if calls is not None and answer.tool_calls != calls.tool_calls:
            answer = replace(answer, messages=(calls, *answer.messages))
        if paths.answer is not None and not answer.tool_calls:
            self._refuse_others(value, output)
        return self._add_usage(answer, value)

    def _read_value(self, output: Output) -> JSON:
        """The body as JSON, if a path leads into it."""
        paths = self._paths
        all_paths = paths.answer, paths.tool_calls, paths.usage, paths.cost_usd
        if all(path is None for path in all_paths):
            return None
        try:
            if output.truncated:
                raise BadJsonError("it is larger than `max_output_bytes`")
            return parse_json(output.data)
        except BadJsonError as error:
            if paths.answer is None and paths.tool_calls is None:
                return None
            raise protocol_error(f"the answer is not JSON: {error}", output.data) from None

    def _find_calls(self, value: JSON, output: Output) -> Message | None:
        """The tool calls that a path leads to, as a message of their own."""
        path = self._paths.tool_calls
        if path is None:
            return None
        try:
            return calls_message(path.find(value))
        except MissingError as error:
            self._expect_none(error, output)
            return None
        except BadCallsError as error:
            why = f"`tool_calls`: at `{path.text}` {error}"
            raise protocol_error(why, output.data) from None

    def _expect_none(self, error: MissingError, output: Output) -> None:
        """Take it that there are no calls, unless the path is misspelt."""
        found = error.found if isinstance(error.found, dict) else {}
        lists = [key for key, item in found.items() if isinstance(item, list)]
        meant = find_nearest(error.step, lists, _NEAR)
        if meant is not None:
            why = f"`tool_calls`: {error}; did you mean `{meant}`?"
            raise protocol_error(why, output.data) from None
        self._warn(f"http target: {error}")

    def _refuse_others(self, value: JSON, output: Output) -> None:
        """Raise TargetError for calls that no path leads to. Where one leads to an empty list,
        whoever gave it knows better."""
        if not self._paths.counts_calls or self._is_told(value):
            return
        found = find_calls(value)
        if found is not None:
            what = f"there are calls at `{found}`, to which no path leads"
            raise protocol_error(f"{what}: {_write_hint(found)}", output.data)

    def _is_told(self, value: JSON) -> bool:
        """Whether the path of the calls leads to something."""
        path = self._paths.tool_calls
        if path is None:
            return False
        try:
            path.find(value)
        except MissingError:
            return False
        return True

    def _read_whole(self, output: Output, calls: Message | None) -> Answer:
        how = self._paths.output
        try:
            return read_output(output, how, self._warn)
        except HiddenCallsError as error:
            if calls is None and self._paths.counts_calls:
                raise protocol_error(f"{error}; {_PATHS}", output.data) from None
        if how == "json":
            return Answer((content_message(parse_json(output.data)),))
        return read_output(output, "text", self._warn)

    def _read_at(
        self, path: JsonPath, value: JSON, output: Output, calls: Message | None
    ) -> Answer:
        try:
            found = path.find(value)
        except MissingError as error:
            raise protocol_error(f"`answer`: {error}", output.data) from None
        if found is None and calls is not None:
            return Answer((calls,))  # an agent that calls a tool often says nothing
        if found is None:
            raise protocol_error(f"`answer`: at `{path.text}` there is null", output.data)
        try:
            return read_json(found, self._warn)
        except HiddenCallsError as error:
            if calls is None and self._paths.counts_calls:
                raise protocol_error(f"{error}; {_PATHS}", output.data) from None
            return Answer((content_message(found),))
        except TargetError as error:
            raise protocol_error(str(error), output.data) from None

    def _add_usage(self, answer: Answer, value: JSON) -> Answer:
        paths = self._paths
        usage = self._find_beside(paths.usage, value)
        cost_usd = self._find_beside(paths.cost_usd, value)
        if isinstance(usage, dict):
            # Details of details, such as OpenAI's, are nothing to warn of.
            usage = {key: item for key, item in usage.items() if not isinstance(item, dict)}
        if usage is None and cost_usd is None:
            return answer
        return replace(
            answer,
            usage=answer.usage if usage is None else read_usage(usage, self._warn),
            cost_usd=answer.cost_usd if cost_usd is None else read_cost(cost_usd, self._warn),
        )

    def _find_beside(self, path: JsonPath | None, value: JSON) -> JSON:
        """What else a path leads to. It is no reason to lose an answer that was paid for."""
        if path is None:
            return None
        try:
            return path.find(value)
        except MissingError as error:
            self._warn(f"http target: {error}")
            return None


def _write_hint(found: str) -> str:
    """How calls at a path are read, or left."""
    reads = f'`tool_calls = "{found}"` of the http target reads them'
    if any(step.isdigit() for step in JsonPath(found).steps):
        reads += ", and an `answer` that leads to all messages those of each"
    return f"{reads}; `tool_calls = false` says that they don't count"
