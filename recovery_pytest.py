"""The plugin of pytest: the fixture `grading`, by which a team's own tests say what its models must do.

pytest loads this module at the start of every run, wherever `recovery` is installed. So it stands beside the package,
which takes a tenth of a second to import: that is for the first test that asks for the fixture.
"""

from __future__ import annotations

import pytest

# For types alone it would be an import at the start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from recovery.grading.asserting import Grading


@pytest.fixture(scope="session")
def grading() -> Grading:
    """Runs of cases, and assertions on their outcomes that fail only beyond the noise. See `recovery.grading`."""
    try:
        from recovery.grading.asserting import Grading
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] == "recovery":
            raise
        pytest.fail(f"the fixture `grading` needs {missing.name}: pip install 'recovery[grading]'", pytrace=False)
    return Grading()
