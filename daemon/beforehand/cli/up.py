"""The command `up`. What it imports, every start of the daemon waits for."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from beforehand import assembly
from beforehand.backends.journal.lock import journal_lock
from beforehand.backends.measures import PrometheusMeasures
from beforehand.cli.logs import log_to_stderr
from beforehand.cli.shared import STATE, Config, Journal, State, advising, awaited, load
from beforehand.lifecycle.pages import listening
from beforehand.lifecycle.serve import serve
from beforehand.pipeline.heap import one_arena


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command()(up)


def up(
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Broker; left out: one is started on loopback.")] = None,
    port: Annotated[int | None, typer.Option(help="Broker port; without a host: of the one that is started.")] = None,
    journal: Journal = None,
    state: State = STATE,
    log_json: Annotated[bool, typer.Option("--log-json", help="Logs as JSON lines.")] = False,
) -> None:
    """Start the daemon, and a broker when none is configured. Ctrl-C ends both."""
    log_to_stderr(as_json=log_json)
    one_arena()
    with advising():
        settings = load(config, broker={"host": host, "port": port}, journal={"path": journal})
        parts = assembly.read_parts(settings)  # what is wrong with files is said before a broker is started
        measures = PrometheusMeasures()
        with journal_lock(settings.journal.path), listening(settings.http, measures.page) as pages:
            awaited(assembly.try_journal(settings, measures))
            awaited(serve(partial(assembly.daemon, parts=parts), settings, state, measures, pages))
