"""`beforehand embed`: vectors of the embedder in use for everything in the journal, as after a change of embedder."""

from __future__ import annotations

import typer
from rich.progress import Progress

from beforehand import assembly
from beforehand.backends.journal.lock import journal_lock
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.shared import Config, Journal, Json, advising, awaited, err, load, out, print_json
from beforehand.errors import NotFound
from beforehand.messages.topics import Scope
from beforehand.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command(name="embed")(embed)


def embed(config: Config = None, journal: Journal = None, json: Json = False) -> None:
    """Make the vectors that the journal lacks, or has of another embedder. No daemon may serve from it meanwhile."""
    with advising():
        settings = load(config, journal={"path": journal})
        if not settings.journal.path.is_file():
            raise NotFound(
                f"there is no journal {settings.journal.path}.", "Set journal.path, or start `beforehand up`."
            )
        with journal_lock(settings.journal.path):
            kept = awaited(_embedded(settings))
    if json:
        print_json(kept)
    else:
        for fingerprint, count in kept.items():
            out.print(f"{count} vectors of {fingerprint}")


async def _embedded(settings: Settings) -> dict[str, int]:
    """Touch every agent, which makes what it lacks; vectors by embedder afterwards."""
    journal, memories = assembly.memories(settings, RecordedMeasures())
    async with journal.open():
        with Progress(console=err, transient=True) as progress:
            for tenant, agent in progress.track(await journal.agents(), description="embedding"):
                await memories.of(Scope(tenant, agent, ""))
                await memories.vectors.store()
        return await journal.embedders()
