"""What more than one command takes: a policy, and the tools of one answer.

May import: the public names of the package, `terminal`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from . import Allowance, Policy, Toolset
from .terminal import FILE, Misuse

# isort: split
# Behind `terminal`, which tells what to install where it is missing.
import click

_PRESETS: Final = {"strict": Policy.strict, "default": Policy.default, "lenient": Policy.lenient}

policy_option = click.option(
    "--policy",
    type=click.Choice(list(_PRESETS)),
    default="default",
    show_default=True,
    help="Which steps away from the strict form are allowed.",
)
allow_option = click.option(
    "--allow",
    multiple=True,
    metavar="NAME",
    type=click.Choice([allowance.value for allowance in Allowance]),
    help=f"One more, besides the policy's: {', '.join(allowance.value for allowance in Allowance)}. Repeatable.",
)
tools_option = click.option(
    "--tools", "tools_file", type=FILE, required=True, help="JSON: a list of tools, or an object that holds `tools`."
)
aliases_option = click.option(
    "--aliases", "aliases_file", type=FILE, help="A JSON object: original name to offered name."
)


def policy_of(preset: str, allow: Iterable[str]) -> Policy:
    """What `policy_option` and `allow_option` say."""
    return Policy({*_PRESETS[preset]().allow, *allow})


def read_tools(tools_file: str, aliases_file: str | None) -> Toolset:
    """What `tools_option` and `aliases_option` name. Raises `Misuse`, naming the file that holds something else."""
    tools = _read_json(tools_file)
    aliases: dict[str, Any] = {}
    if isinstance(tools, dict) and "tools" in tools:
        tools, aliases = tools["tools"], tools.get("aliases") or {}
    if not isinstance(tools, list):
        raise Misuse(f"{tools_file}: expected a list of tools, or an object with `tools`")
    if aliases_file is not None:
        given = _read_json(aliases_file)
        if not isinstance(given, dict):
            raise Misuse(f"{aliases_file}: expected an object, original name to offered name")
        aliases = {**aliases, **given}
    try:
        return Toolset(tools, aliases=aliases)
    except (TypeError, ValueError) as error:
        at_alias = aliases_file is not None and str(error).startswith("aliases")
        raise Misuse(f"{aliases_file if at_alias else tools_file}: {error}") from None


def _read_json(file: str) -> Any:
    try:
        return json.loads(Path(file).read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Misuse(f"{file}: no JSON: {error}") from None
