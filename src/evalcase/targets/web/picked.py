"""The body that a service sends back to an answer, each of whose parts is picked by a path.

Calls count wherever they are: those that no path leads to are noted on the answer, so that no
grader takes it that there are none. A path of calls that is misspelt is an error. Where there are
none at all, a path may lead nowhere: many services leave out what is empty.
"""

from __future__ import annotations

from evalcase.errors import TargetError
from evalcase.targets.reading.answers import content_message
from evalcase.targets.reading.ends import find_end_at
from evalcase.targets.reading.outputs import How, read_output
from evalcase.targets.reading.replies import ignore_calls, note_end, note_unread
from evalcase.targets.reading.shaped import read_json
from evalcase.targets.reading.usage import read_cost, read_usage
from evalcase.targets.web.errors import protocol_error
from evalcase.targets.web.streamed import WholeReply, join_stream, refuse_stream
from evalcase.types.answer import Answer
from evalcase.types.message import Message, take_message
from evalcase.types.problem import find_nearest
from evalcase.types.target import Warn
from evalcase.types.value import JSON, Value, replace
from evalcase.util.calls import BadCallsError, CallShape, understand_calls
from evalcase.util.json import BadJsonError, JsonPath, MissingError, parse_json
from evalcase.util.processes import Output

_NEAR = 0.8
"""How like the name of a list a step must be to be that, misspelt."""
_DONT_COUNT = "`tool_calls = false` says that they don't count"


class ReplyPaths(Value, frozen=True):
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
            return self._read_stream(output, paths.stream)
        if paths.output != "text":
            refuse_stream(reply)
        value = self._read_value(output)
        calls = self._find_calls(value, output)
        if paths.answer is None:
            answer = read_output(output, paths.output, self._warn)
        else:
            answer = self._read_at(paths.answer, value, output, calls)
        # A path may lead into a reply whose calls were read with it.
        if calls is not None and answer.tool_calls != calls.tool_calls:
            answer = replace(answer, messages=(calls, *answer.messages))
        answer = replace(answer, messages=self._note(answer.messages, value))
        return self._add_usage(answer, value)

    def _read_stream(self, output: Output, path: JsonPath) -> Answer:
        joined = join_stream(output, path)
        messages = note_end([content_message(joined.text)], joined.end)
        if not self._paths.counts_calls:
            return Answer(self._ignore_calls(messages))
        return Answer(note_unread(messages, joined.events, _say_it_was_streamed))

    def _note(self, messages: tuple[Message, ...], value: JSON) -> tuple[Message, ...]:
        """The messages with calls that no path leads to, and with how the reply ended. Where a path
        leads to a list, empty or not, there are no other calls: the user knows better."""
        if self._paths.answer is not None:
            messages = note_end(messages, find_end_at(value, self._paths.answer.steps))
        if not self._paths.counts_calls or self._is_told(value):
            return self._ignore_calls(messages)
        return (
            messages
            if self._paths.answer is None
            else note_unread(messages, value, _say_no_path_leads)
        )

    def _ignore_calls(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        ignored = ignore_calls(messages)
        if ignored != messages and not self._paths.counts_calls:
            self._warn("http target: calls in the reply don't count, as `tool_calls = false` says")
        return ignored

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
            found = path.find(value)
            if found in (None, []):
                return None
            return take_message({"role": "assistant", "tool_calls": understand_calls(found)})
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


def _say_no_path_leads(call: CallShape) -> str:
    reads = f'`tool_calls = "{call.listed_at}"` of the http target reads its list'
    return f"{call}, to which no path leads ({reads}; {_DONT_COUNT})"


def _say_it_was_streamed(call: CallShape) -> str:
    why = "`stream` of the http target reads texts alone: ask for the whole reply"
    return f"{call} of an event ({why}; {_DONT_COUNT})"
