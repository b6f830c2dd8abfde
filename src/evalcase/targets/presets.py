"""Providers whose models are asked by OpenAI's API: address, key and quirks of each, as data."""

from __future__ import annotations

from typing import NamedTuple


class Preset(NamedTuple):
    base_url: str
    """The address of the API; empty if each user has an address of their own."""
    key_env: str | None
    """The variable of the key in the provider's own documentation. It is for this address only: a
    key belongs to a host."""
    about: str = ""
    header: str = "Authorization"
    prefix: str = "Bearer "
    address_env: tuple[str, ...] = ()
    """Variables that tell the provider's own client of another address."""
    example: str = ""
    """An address, where there is no base_url."""
    hosts: tuple[str, ...] = ()
    """Ends of host names that the key belongs to, where there is no base_url."""

    def is_own_address(self, address: str) -> bool:
        """Whether an address is the provider's, so that its key may be sent there."""
        return bool(self.base_url) and address == self.base_url.rstrip("/")


OPENAI = Preset(
    "https://api.openai.com/v1",
    "OPENAI_API_KEY",
    address_env=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
)
ANTHROPIC = Preset(
    "https://api.anthropic.com",
    "ANTHROPIC_API_KEY",
    header="x-api-key",
    prefix="",
    address_env=("ANTHROPIC_BASE_URL",),
)
