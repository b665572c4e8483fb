"""`recovery`, instrumented for coverage. What imports `recovery` in this folder imports this module before it."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["recovery"]):
    import recovery.gateways.anthropic
    import recovery.gateways.openai
    import recovery.grading
    import recovery.replay  # noqa: F401
