"""What is known beyond the file that is read: which graders there are, which targets, a judge.

Whoever resolves a suite asks for it through this, so that reading a file needs neither plug-ins
nor a configuration.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, Protocol

from evalcase.model.finding import Unfit
from evalcase.model.grader_options import DeclaredGrader

What = Literal["grader", "target", "asked", "judge", "code", "program", "script"]
"""What a suite mentions by a name; `criteria` and `rubrics` mention the judge, code is a
function that grades, a program one that does, and a script the file that it runs. A target is what
is tested; what is asked is one, too, by graders or to play a user, whatever is tested."""


class Known(Protocol):
    def grader(self, name: str) -> DeclaredGrader | None:
        """What is declared of a kind of grader; None if nobody knows it."""
        ...

    def object_to(self, what: What, name: str) -> Unfit | None:
        """Why what is mentioned can't be used; None where nothing speaks against it."""
        ...

    def object_to_call(self, function: str, arguments: Collection[str]) -> Unfit | None:
        """Why a function that grades can't be called with what it is given beside what all are;
        None where nothing speaks against it."""
        ...

    def describe_same_user(self, user: str, target: str | None) -> str | None:
        """A sentence where the target that plays a user is the one that is tested, None for that of
        the configuration."""
        ...

    def describe_same_model(self, judge: str | None, target: str | None) -> str | None:
        """A sentence where a judge is the model that it judges. None stands for those that the
        configuration names."""
        ...
