"""What goes wrong between sending a request and having its answer, drawn as a tree.

HttpError
├── CantConnectError      no connection came about
│   └── CertificateError  whoever answers is not trusted
├── ConnectTimeoutError   it took too long
├── ProxyRefusedError     a proxy was asked to pass a connection on, and said no
├── NotHttpError          something came that is no answer
└── BrokenOffError        an answer was on its way, or waited for, and its connection ended
"""

from __future__ import annotations

from collections.abc import Mapping


class HttpError(Exception):
    """All of them."""


class CantConnectError(HttpError):
    """No connection came about."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error) or "the other side closed it")


class CertificateError(CantConnectError):
    """Whoever answers is not trusted."""

    def __init__(self, error: OSError) -> None:
        HttpError.__init__(self, str(error))


class ConnectTimeoutError(HttpError):
    """No connection came about in time."""


class ProxyRefusedError(HttpError):
    """A proxy answered a CONNECT with something else than 2xx."""

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(f"the proxy answered with {status}")
        self.status = status
        self.headers = headers


class NotHttpError(HttpError):
    """What came is no answer."""


class BrokenOffError(HttpError):
    """A connection ended before an answer did."""
