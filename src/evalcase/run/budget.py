"""What a run spends, and the cap on it: targets and graders draw on the same."""

from __future__ import annotations

from collections.abc import Callable


class Budget:
    """Adds up costs, and says once that the cap is reached."""

    def __init__(
        self, cap_usd: float | None, spent_usd: float, stop: Callable[[str], None]
    ) -> None:
        self.cap_usd = cap_usd
        self.spent_usd = spent_usd
        self._stop = stop

    @property
    def is_spent(self) -> bool:
        """Whether the cap is reached."""
        return self.cap_usd is not None and self.spent_usd >= self.cap_usd

    def spend(self, cost_usd: float) -> None:
        self.spent_usd += cost_usd
        if self.is_spent:
            cap = f"{self.cap_usd:g} USD"
            self._stop(f"the spending cap of {cap} is reached; raise it to start more trials")
