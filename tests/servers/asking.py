"""A run of the real command against one of the servers, and what its record says of each case."""

import json
from typing import Any, NamedTuple

from evalcase.types.result import Result
from tests.run.project import Done, Project
from tests.servers.aimock import KEY, Aimock
from tests.servers.llmock import Llmock
from tests.store.rows import read_results

KEY_NAME = "MODEL_KEY"

PRICE = "{ input = 1, output = 10 }"

# The plain target can speak to the same servers, told how.
HTTP = """
url = "{base}/chat/completions"
body = {{ model = "m", messages = "{{messages}}" }}
answer = "choices.0.message.content"
usage = "usage"
"""


class Asked(NamedTuple):
    done: Done
    results: dict[str, Result]

    @property
    def result(self) -> Result:
        """Of the only case."""
        (result,) = self.results.values()
        return result


def configure(
    project: Project, server: Llmock | Aimock, *kinds: str, params: dict[str, Any] | None = None
) -> None:
    """A target of each kind, named after it."""
    lines = []
    for kind in kinds:
        lines += [f"[targets.{kind}]", f'kind = "{kind}"', f'key_env = "{KEY_NAME}"']
        if kind == "http":
            lines += HTTP.format(base=server.base("openai")).splitlines()
        else:
            # With a price of its own, it needs none of a package, which is slow to import.
            lines += [f'base_url = "{server.base(kind)}"', 'model = "m"', f"price = {PRICE}"]
        lines += [f"params.{name} = {json.dumps(value)}" for name, value in (params or {}).items()]
    project.configure("\n".join(lines))


def run(project: Project, *kinds: str, options: tuple[str, ...] = ()) -> Asked:
    """Run all suites of the project, with the key in the environment."""
    targets = [word for kind in kinds for word in ("--target", kind)]
    done = project.run("run", *targets, "--json", *options, env={KEY_NAME: KEY})
    assert done.code in (0, 1, 3), done.err
    return Asked(done, results(project))


def results(project: Project) -> dict[str, Result]:
    """What the record of the newest run says of each case."""
    journal = project.runs()[-1] / "journal.jsonl"
    return {result.key.case: result for result in read_results(str(journal))}


def ask(
    project: Project, server: Llmock | Aimock, kind: str, *cases: dict[str, Any],
    stream: bool = False, options: tuple[str, ...] = (),
) -> Asked:  # fmt: skip
    """Run these cases, against a target of this kind."""
    configure(project, server, kind, params={"stream": True} if stream else None)
    project.suite(*cases)
    return run(project, kind, options=options)
