"""What an environment says of the network: whom to trust."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping

from evalcase.errors import ConfigError
from evalcase.targets.web.endpoint import Endpoint

_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR", *_BUNDLES)


def load_trust(
    endpoint: Endpoint, proxy: str | None, environment: Mapping[str, str]
) -> ssl.SSLContext | None:
    """The authorities of the system, or those that the environment names; None where neither the
    address nor a proxy needs any."""
    if not any(url.lower().startswith("https:") for url in (endpoint.url, proxy or "")):
        return None
    name = next((name for name in _TRUSTED if environment.get(name)), "")
    try:
        if name in _BUNDLES:
            file, folder = _split_place(environment[name])
            return ssl.create_default_context(cafile=file, capath=folder)
        context = ssl.create_default_context()
        if name:
            context.load_verify_locations(*_split_place(environment[name]))
    except OSError as error:
        raise ConfigError(f"{endpoint.kind} target: {name} can't be read: {error}") from None
    return context


def _split_place(path: str) -> tuple[str | None, str | None]:
    return (None, path) if os.path.isdir(path) else (path, None)
