"""The command `recovery serve`: the proxy that recovers calls on the way from an upstream to its clients.

May import: the public names, `cli_options`, `gateways.serve.app`, `gateways.serve.demo`, `gateways.serve.log`,
`gateways.serve.settings`, `terminal`.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from . import Limits, Policy
from .cli_options import allow_option, policy_of, policy_option
from .terminal import Misuse

# isort: split
# Behind `terminal`, which tells what to install where it is missing.
import click

# What the extra brings.
_EXTRA = frozenset(("httpx", "prometheus_client", "starlette", "uvicorn"))


@click.command("serve")
@click.option("--upstream", metavar="URL", help="The server behind: what stands before /v1/chat/completions.")
@click.option("--demo", is_flag=True, help="Start an upstream too, which writes calls as text: to try it out.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0: any free one.")
@policy_option
@allow_option
@click.option(
    "--commit",
    type=click.Choice(["answer", "call"]),
    default="answer",
    show_default=True,
    help="When a call of a stream goes out: as for `recovery stream`.",
)
@click.option("--never", multiple=True, metavar="NAME", help="No written call of this tool is recovered. Repeatable.")
@click.option("--reasoning-open", is_flag=True, help="Prompts have opened the model's reasoning: `recovery stream`.")
@click.option(
    "--max-request", type=click.IntRange(1), default=32 * 2**20, show_default=True, help="Bytes; a larger one gets 413."
)
@click.option(
    "--max-answer",
    type=click.IntRange(1),
    default=8 * 2**20,
    show_default=True,
    help="Bytes that are held of an answer at most; a larger one passes unread.",
)
@click.option(
    "--connect-timeout", type=click.FloatRange(0, min_open=True), default=10, show_default=True, help="Seconds."
)
@click.option(
    "--read-timeout",
    type=click.FloatRange(0, min_open=True),
    default=600,
    show_default=True,
    help="Seconds until the upstream's next byte.",
)
@click.option(
    "--grace", type=click.IntRange(0), default=30, show_default=True, help="Seconds for open answers when stopped."
)
@click.option(
    "--log-content",
    type=click.Path(dir_okay=False),
    help="Append every answer that was read to this file, with its tools: `recovery replay` reads it.",
)
def serve(  # noqa: PLR0913, PLR0917 - each is an option
    upstream: str | None,
    demo: bool,
    host: str,
    port: int,
    policy: str,
    allow: tuple[str, ...],
    commit: Literal["answer", "call"],
    never: tuple[str, ...],
    reasoning_open: bool,
    max_request: int,
    max_answer: int,
    connect_timeout: float,
    read_timeout: float,
    grace: int,
    log_content: str | None,
) -> None:
    """Stand before any server that speaks OpenAI's API, and turn calls written as text into tool calls.

    All requests pass to the upstream and all answers back, unchanged: path, headers, body, errors. Only in the answers
    to POST …/chat/completions that offer tools are written calls recovered, streaming or not. An answer without one is
    passed on byte for byte. `tool_choice` and `parallel_tool_calls` are honoured; the model's own calls always pass.

    \b
    recovery serve --demo
    recovery serve --upstream http://127.0.0.1:8000
    recovery serve --upstream https://api.openai.com --policy lenient --port 9000

    Clients take http://127.0.0.1:8080/v1 as their base URL. GET /healthz says that the server runs, GET /metrics counts
    for Prometheus: answers, calls, refusals by reason, dialects, seconds. Standard output gets a JSON object a request,
    with nothing of any message, header or query in it.

    Stops on Ctrl-C or SIGTERM, when open answers have ended or --grace is over. Exit status: 2 misuse, otherwise that
    of the signal.
    """
    if (upstream is None) != demo:
        raise click.UsageError("give either --upstream or --demo")
    try:
        from .gateways.serve.app import make_app, make_server
        from .gateways.serve.demo import demo_upstream
        from .gateways.serve.log import Log
        from .gateways.serve.settings import Settings
    except ModuleNotFoundError as missing:
        if missing.name not in _EXTRA:
            raise
        raise Misuse(f"recovery serve needs {missing.name}: pip install 'recovery[serve]'") from None
    with ExitStack() as stack:
        content = None
        if log_content is not None:
            content = stack.enter_context(Path(log_content).open("a", encoding="utf-8", newline="\n"))
        log = Log(sys.stdout, content)
        if demo:
            upstream = stack.enter_context(demo_upstream())
        assert upstream is not None
        try:
            settings = Settings(
                upstream=upstream,
                policy=Policy(policy_of(policy, allow).allow, Limits(characters=max_answer)),
                commit=commit,
                never=frozenset(never),
                reasoning_open=reasoning_open,
                max_request=max_request,
                max_answer=max_answer,
                connect_timeout=connect_timeout,
                read_timeout=read_timeout,
            )
        except ValueError as error:
            raise Misuse(str(error)) from None
        server = make_server(make_app(settings, log), log, host=host, port=port, grace=grace)
        try:
            server.run()
        except SystemExit:
            # What uvicorn found is on a line of the log.
            raise Misuse(f"nothing can listen on {host}:{port}") from None
