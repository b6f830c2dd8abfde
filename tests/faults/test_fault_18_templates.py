import json
from typing import Any

import pytest

from tests.run.project import Project
from tests.targets.server import serving

HOSTILE = [
    "{prompt} {case_id} {{prompt}} {repeat}",
    "{{ 7 * 7 }} {% raw %} ${HOME} $(id) `id`",
    "{0.__class__.__mro__} %(x)s {messages}",
]


def suite(project: Project) -> None:
    project.suite(
        *(
            {"id": f"c{number}", "input": text, "expected_output": text}
            for number, text in enumerate(HOSTILE)
        )
    )


@pytest.mark.parametrize("shell", [False, True], ids=["argv", "shell"])
def test_fault_18_a_text_is_one_word_of_a_command_and_never_looked_at_again(
    project: Project, shell: bool
) -> None:
    command = "printf %s {prompt}" if shell else ["printf", "%s", "{prompt}"]
    project.configure(
        f'target = "p"\n[targets.p]\nkind = "command"\nshell = {json.dumps(shell)}\n'
        f"command = {json.dumps(command)}\n"
    )
    suite(project)
    assert project.run("run", "--json").counts() == {"passed": 3}


def test_fault_18_a_text_in_the_body_of_a_request_is_never_looked_at_again(
    project: Project,
) -> None:
    with serving(*[{"echo": "no"}] * len(HOSTILE)) as server:
        project.configure(
            f'target = "h"\n[targets.h]\nkind = "http"\nurl = "{server.url}"\nanswer = "echo"\n'
            'body = {question = "{prompt}", both = "<{prompt}|{prompt}>"}\n'
        )
        suite(project)
        project.run("run", "--concurrency", "1")
        bodies: list[Any] = [request.json for request in server.requests]
    assert bodies == [{"question": text, "both": f"<{text}|{text}>"} for text in HOSTILE]
    assert set(project.verdicts().values()) == {"failed"}
