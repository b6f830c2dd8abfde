from __future__ import annotations

import pytest

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.quota import Allowance, Quota
from evalcase.places.wire import attempt_object, attempt_of, from_line, to_line
from evalcase.run.attempt import Attempted
from evalcase.text.secret_search import KnownSecrets
from evalcase.text.secrets import Scrubber


@pytest.mark.parametrize("secrets", [{}, {"KEY": "a-secret-of-some-length"}])
@pytest.mark.parametrize("error", [None, TargetError("429", overloaded=True, retry_after_s=2.0)])
def test_what_a_service_says_to_be_left_reaches_the_run(
    error: TargetError | None, secrets: dict[str, str]
) -> None:
    scrubber = Scrubber(secrets)
    scrubber.watch(secrets)
    known: KnownSecrets = scrubber.look()
    answer = Answer.of_text("ok") if error is None else None
    for quota in (
        None,
        Quota(),
        Quota(Allowance(1, 2.0, 60), None),
        Quota(None, Allowance(0, 9.0)),
    ):
        told = attempt_object(Attempted(answer, error, 0.5, quota), known)
        read = attempt_of(from_line(to_line(told)), 1.0)
        assert (read.answer, read.quota) == (answer, quota)
