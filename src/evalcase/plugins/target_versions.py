"""What tells a target apart from what it was before: hashes of its options and of its files."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from evalcase.model.option import options_of
from evalcase.model.target import Target, TargetOptions, TargetVersion
from evalcase.plugins.registry import search_target_kind


def version_of(target: Target | None, options: Mapping[str, Any] | None) -> TargetVersion:
    """What a target is just now; `options` are what the configuration says of it."""
    return TargetVersion(_hash_options(options), _hash_sources(target))


def _hash_options(options: Mapping[str, Any] | None) -> str:
    """As a hash: it may say what is secret."""
    told = [] if not options else sorted(_deciding(options).items())
    return _hash_text(repr(told))


def _deciding(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that decide an answer, as the kind of target declares them."""
    kind = search_target_kind(str(options.get("kind")))
    declared = options_of(TargetOptions if kind is None else kind.options)
    return {
        name: value
        for name, value in options.items()
        if name not in declared or declared[name].decides_answer
    }


def _hash_sources(target: Target | None) -> str:
    # One that a program brings along may have less than it should.
    files = target.sources() if target is not None and Target in type(target).__mro__ else {}
    return _hash_text(repr(sorted(files.items()))) if files else ""


def _hash_text(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
