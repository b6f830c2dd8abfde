"""The names of sessions: how those within a trial are made of its own, and told from each other.

A trial has one, and another each time that it is begun anew. Who plays its user has one beside it;
and each question of a grader is a session by itself.
"""

from __future__ import annotations

import re

_USER = "/user"
_AGAIN = re.compile(rf"\.\d+(?=(?:{_USER})?\Z)")
_GRADERS = re.compile(r"/grader-\d+\Z")


def user_session(session: str) -> str:
    """The session in which the user of a conversation is played: never that of the target."""
    return f"{session}{_USER}"


def is_users(session: str) -> bool:
    return session.endswith(_USER)


def grader_session(session: str, number: int) -> str:
    """That of a question which a grader asks within a trial."""
    return f"{session}/grader-{number}"


def is_graders(session: str) -> bool:
    return _GRADERS.search(session) is not None


def trial_of_session(session: str) -> str:
    """What all sessions of a trial have in common, however often it was begun."""
    return _AGAIN.sub("", session)
