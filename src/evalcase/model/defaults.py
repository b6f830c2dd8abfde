"""What holds where nobody says anything: of a run, and of the configuration that says it; and how
much may be said."""

from __future__ import annotations

MOST_REPEATS = 1_000_000
"""How many trials a case may have at most."""
CONCURRENCY = 10
"""How many trials are under way at once."""
TIMEOUT_S = 120.0
"""How long an attempt may take."""
RETRIES = 2
"""How often it is tried again after what may succeed later."""
GRADER_TIMEOUT_S = 120.0
"""How long a grader may take that says nothing else."""
