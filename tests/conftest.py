"""Makes `tests.…` and `grammar.…` importable wherever pytest is started, and the property tests the same each run."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# Behind all that is installed, so that a wheel under test, or a broken copy (break_code.py), is not hidden.
sys.path.append(str(Path(__file__).parent.parent))

# Of what runs in the background a shell takes Ctrl-C away, and so of all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The machine decides how long an example takes, and what a slow one says is nothing about the code.
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]
# The same examples each run; other ones each time where more are asked for (strategies.py).
SAME = os.environ.get("EXAMPLES_TIMES", "1") == "1"
settings.register_profile("tests", derandomize=SAME, database=None, deadline=None, suppress_health_check=QUIET)
settings.load_profile("tests")
