"""The targets that can be named in a project: those of its configuration, then kinds."""

from __future__ import annotations

from evalcase.config.config import Config
from evalcase.config.registry import find_target_kind, list_names
from evalcase.errors import ConfigError


def offer_targets(config: Config) -> dict[str, str]:
    """Each name with a sentence."""
    offers = {name: _describe_target(table.get("kind")) for name, table in config.targets.items()}
    for kind in list_names("targets"):
        try:
            found = find_target_kind(kind)
        except ConfigError:
            continue
        offers.setdefault(f"{kind}:" if found.value_needed else kind, found.about)
    return offers


def _describe_target(kind: object) -> str:
    try:
        return f"{kind}: {find_target_kind(str(kind)).about}"
    except ConfigError:
        return ""
