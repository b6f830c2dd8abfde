"""Any service that answers a POST: a body made from the case, an answer picked by a path.

| option | meaning |
|---|---|
| `url` | the address |
| `body` | a JSON value with placeholders, see `http_body`; by default what programs get |
| `answer` | the path of the answer in the JSON that comes back, see `json_path` |
| `usage`, `cost_usd` | the paths of tokens and of money |
| `output` | `auto`, `text` or `json`: how an answer without a path is read, see `outputs` |

The rest of its options are in `http_options`; `key_env` is sent as `Authorization: Bearer`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.trial import Trial
from evalcase.system.processes.pipes import Output
from evalcase.targets import Warn, ignore
from evalcase.targets.files import sent_files
from evalcase.targets.options import Options
from evalcase.targets.reading.answers import read_json
from evalcase.targets.reading.outputs import How, read_output
from evalcase.targets.reading.usage import read_cost, read_usage
from evalcase.targets.shown import hidden, request
from evalcase.targets.web.body import BodyTemplate
from evalcase.targets.web.errors import protocol_error
from evalcase.targets.web.options import KeyRule, check_url, read_http_options
from evalcase.text.json_path import JsonPath, MissingError
from evalcase.text.strict_json import BadJsonError, parse_json

if TYPE_CHECKING:
    from evalcase.targets.web.client import HttpClient


class HttpTarget:
    """Posts each case to an address."""

    def __init__(self, *, root: str = ".", warn: Warn = ignore, **options: object) -> None:
        del root
        read = Options("http", options)
        url = check_url(read, "url", read.required_text("url", '"http://localhost:8000/answer"'))
        self._http = read_http_options("http", read, url, KeyRule())
        self._body = BodyTemplate(read, "body") if read.has("body") else None
        self._answer = _path(read, "answer")
        self._usage = _path(read, "usage")
        self._cost_usd = _path(read, "cost_usd")
        self._how = cast(How, read.choice("output", ("auto", "text", "json")))
        if self._answer is not None and self._how == "text":
            read.refuse("answer", 'is a path into JSON, and does not go with output = "text"')
        read.check_unknown()
        self._warn = warn
        self._warned = False
        self._client: HttpClient | None = None
        self.concurrency = self._http.concurrency
        self.key_names = self._http.key_names

    @classmethod
    def from_value(cls, value: str, *, root: str = ".", warn: Warn = ignore) -> HttpTarget:
        return cls(url=value, root=root, warn=warn)

    @staticmethod
    def carries_address(value: str) -> bool:
        """Whether `http:VALUE` says where to connect to."""
        del value
        return True

    async def open(self) -> None:
        # The client is slow to import, and only who asks something needs it.
        from evalcase.targets.web.client import HttpClient

        self._client = HttpClient(self._http)
        await self._client.open()

    async def answer(self, trial: Trial) -> Answer:
        assert self._client is not None, "open() comes first"
        self._warn_of_hidden(trial)
        return self._read(await self._client.post(self._request(trial)))

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def cache_key(self, trial: Trial) -> JSON:
        """All that decides the answer, without secrets."""
        how: list[JSON] = [self._how, self._http.max_output_bytes]
        how += [path.text if path else None for path in (self._answer, self._usage, self._cost_usd)]
        return {"request": self._http.cache_key(self._request(trial)), "how": how}

    def _request(self, trial: Trial) -> JSON:
        if self._body is not None:
            return self._body.fill(trial)
        return {**request(trial), "files": sent_files(trial)}

    def _read(self, output: Output) -> Answer:
        value = self._json(output)
        if self._answer is None:
            answer = read_output(output, self._how, self._warn)
        else:
            answer = self._at_path(self._answer, value, output)
        usage, cost_usd = self._beside(self._usage, value), self._beside(self._cost_usd, value)
        if isinstance(usage, dict):
            # Details of details, such as OpenAI's, are nothing to warn of.
            usage = {key: item for key, item in usage.items() if not isinstance(item, dict)}
        return replace(
            answer,
            usage=answer.usage if usage is None else read_usage(usage, self._warn),
            cost_usd=answer.cost_usd if cost_usd is None else read_cost(cost_usd, self._warn),
        )

    def _json(self, output: Output) -> JSON:
        """The body as JSON, if a path leads into it."""
        if self._answer is None and self._usage is None and self._cost_usd is None:
            return None
        try:
            if output.truncated:
                raise BadJsonError("it is larger than `max_output_bytes`")
            return parse_json(output.data)
        except BadJsonError as error:
            if self._answer is None:
                return None
            raise protocol_error(f"the answer is not JSON: {error}", output.data) from None

    def _at_path(self, path: JsonPath, value: JSON, output: Output) -> Answer:
        try:
            found = path.find(value)
        except MissingError as error:
            raise protocol_error(f"`answer`: {error}", output.data) from None
        if found is None:
            raise protocol_error(f"`answer`: at `{path.text}` there is null", output.data)
        try:
            return read_json(found, self._warn)
        except TargetError as error:
            raise protocol_error(str(error), output.data) from None

    def _beside(self, path: JsonPath | None, value: JSON) -> JSON:
        """What else a path leads to. It is no reason to lose an answer that was paid for."""
        if path is None:
            return None
        try:
            return path.find(value)
        except MissingError as error:
            self._warn(f"http target: {error}")
            return None

    def _warn_of_hidden(self, trial: Trial) -> None:
        if self._warned or self._body is None:
            return
        if "messages" in self._body.used or "prompt" not in self._body.used:
            return
        what = hidden(trial.case)
        if what is not None:
            self._warned = True
            hint = "{messages} has all of them"
            self._warn(f"the http target sends the last user message only; {what}; {hint}")


def _path(read: Options, name: str) -> JsonPath | None:
    text = read.text(name)
    try:
        return None if text is None else JsonPath(text)
    except ValueError as error:
        read.refuse(name, str(error))
