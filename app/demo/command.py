"""`greenloop demo`."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.commands.common import local_github_needed
from loops.runtimes import registry


def demo(
    repo: Annotated[
        Path | None, typer.Option(help="A Git repository with a workflow file; by default a small one of our own.")
    ] = None,
    issue: Annotated[str | None, typer.Option(help="The issue: first line the title, the rest the text.")] = None,
    agent: Annotated[
        str | None, typer.Option(help="Any program as the agent: runs in the checkout, reads its prompt on stdin.")
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option(
            help=f"A real agent on PATH: {' '.join(agent.name for agent in registry.agents())}. A script answers in "
            "place of a model, unless the agent's usual variable (OPENAI_API_KEY, ANTHROPIC_API_KEY, …) holds a key."
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="With --runtime and a real key: the model.")] = None,
    cap: Annotated[int | None, typer.Option(min=0, max=20, help="Attempts after the first turn.")] = None,
    boxes: Annotated[
        Literal["local", "kubernetes"],
        typer.Option(help="Where turns run: on this machine, or on the cluster of --kubeconfig."),
    ] = "local",
    kubeconfig: Annotated[Path | None, typer.Option(help="With --boxes kubernetes: how to reach the cluster.")] = None,
    box_image: Annotated[str | None, typer.Option(help="With --boxes kubernetes: the boxes' image.")] = None,
    host: Annotated[
        str | None, typer.Option(help="Address of this machine by which boxes reach it; by default the likeliest.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            help="What goes wrong at the local GitHub: KIND,option=value,… as in docs/local-github.md; again."
        ),
    ] = None,
    model_fault: Annotated[
        list[str] | None,
        typer.Option(
            help="With --runtime and the script: how the model refuses the agent's first run: overload, rate-limit or "
            "context (too long for the model). Again: the next run, too. The demo goes on to green by itself."
        ),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Stay up at the end, to click around.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line of stdout.")] = False,
) -> None:
    """Show the whole loop on this machine: a mention becomes a green pull request. No accounts needed.

    Exit code 0 when the session ends green, 1 when it ends otherwise, 2 when the input cannot be used.
    """
    with local_github_needed("demo"):
        from app.demo.run import DemoOptions
        from app.demo.run import demo as run
        from app.demo.world import Misuse

    try:
        options = DemoOptions(
            repo,
            issue,
            agent,
            cap,
            keep,
            json,
            boxes,
            kubeconfig,
            box_image,
            host,
            runtime,
            model,
            fault or (),
            model_fault or (),
        )
        code = asyncio.run(run(options))
    except Misuse as error:
        print(f"greenloop demo: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except asyncio.CancelledError:
        raise typer.Exit(143) from None
    raise typer.Exit(code)
