"""What holds where nobody says anything: of a run, and of the configuration that says it."""

from __future__ import annotations

CONCURRENCY = 10
"""How many trials are under way at once."""
TIMEOUT_S = 120.0
"""How long an attempt may take."""
RETRIES = 2
"""How often it is tried again after what may succeed later."""
GRADER_TIMEOUT_S = 120.0
"""How long a grader may take that says nothing else."""
