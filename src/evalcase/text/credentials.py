"""What somebody typed, without what lets others in: users and passwords in addresses, keys in their
parameters, tokens of headers, and what looks like a key wherever it stands. Stars take their
places, so that columns stay what they are."""

from __future__ import annotations

import re

from evalcase.model.shape_variable import may_hold_secret

# Each repeat is bounded, so that no text takes longer than its length allows.
KEYS = (
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,200}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{35}"
    r"|\bgh[oprsu]_[A-Za-z0-9]{36,255}|\bgithub_pat_[A-Za-z0-9_]{22,255}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,250}"
    r"|\beyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}"
    r"|(?<=Bearer )[A-Za-z0-9._~+/-]{16,2000}=?=?"
)
"""What services give out as keys, and what stands where one is sent."""
_USER = re.compile(r"(?<=//)[^\s/?#\"'`]+(?=@)")
_BEFORE_PORT = re.compile(r"\b[\w.%+-]{1,100}:[^\s/@:\"'`]{1,200}(?=@[\w.-]{1,255}:\d)")
_PARAMETER = re.compile(r"(?<=[?&;#])([\w.-]{1,100})=([^\s&#,\"'`]+)")
_TOKEN = re.compile(r"(?<=\bBearer )[^\s\"'`]+")
_KEY = re.compile(KEYS)


def mask_credentials(text: str) -> str:
    """The same text, as long as it was."""
    for pattern in (_USER, _BEFORE_PORT, _TOKEN, _KEY):
        text = pattern.sub(lambda found: "*" * len(found[0]), text)
    return _PARAMETER.sub(_mask_parameter, text) if "=" in text else text


def _mask_parameter(found: re.Match[str]) -> str:
    name, value = found.groups()
    return f"{name}={'*' * len(value)}" if may_hold_secret(name) else found[0]
