"""Without the extra `serve` its tests are not collected; `.ci/run serve` has it."""

from importlib.util import find_spec

NEEDED = ("httpx", "prometheus_client", "starlette", "uvicorn")

if not all(map(find_spec, NEEDED)):
    collect_ignore = ["test_command.py", "test_faults.py", "test_proxy.py"]
