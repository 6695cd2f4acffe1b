"""`beforehand doctor`: looks at everything a daemon needs and says what to do about what is wrong."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import typer
from rich.table import Table

from beforehand import assembly
from beforehand.backends import rule_files
from beforehand.backends.broker.embedded import choose, find_mosquitto
from beforehand.backends.embedders import embedder_for
from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import from_settings
from beforehand.cli.shared import FAILED, Config, Json, advising, load, out, print_json
from beforehand.errors import BeforehandError
from beforehand.settings import NO_MODEL, Settings

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_SPARE_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `advice` is empty when it is good."""

    part: str
    state: Literal["good", "warning", "bad"]
    detail: str
    advice: str = ""


def doctor(config: Config = None, json: Json = False) -> None:
    """Check all that a daemon needs, from settings and disk to rules and model. Exit code 1 when something is bad."""
    with advising():
        settings = load(config)
    findings = [finding for look in _LOOKS for finding in _looked(look, settings)]
    if json:
        print_json([asdict(finding) for finding in findings])
    else:
        colours = {"good": "green", "warning": "yellow", "bad": "red"}
        table = Table("part", "state", "detail", "advice", box=None)
        for one in findings:
            table.add_row(one.part, f"[{colours[one.state]}]{one.state}[/]", one.detail, one.advice)
        out.print(table)
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(FAILED)


def _looked(look: Callable[[Settings], Iterator[Finding]], settings: Settings) -> Iterator[Finding]:
    """A look that fails with an error of ours is a finding with its advice."""
    try:
        yield from look(settings)
    except BeforehandError as error:
        yield Finding(look.__name__.strip("_"), "bad", error.problem, error.advice)


def _threads(_: Settings) -> Iterator[Finding]:
    for name in _THREADS:
        if os.environ.get(name) == "1":
            yield Finding("threads", "good", f"{name}=1")
        else:
            yield Finding(
                "threads", "warning", f"{name} is not 1", f"Set {name}=1: short calls are 5-80 times slower with more."
            )


def _disk(settings: Settings) -> Iterator[Finding]:
    folder = settings.journal.path.absolute().parent
    free = shutil.disk_usage(folder).free if folder.is_dir() else 0
    state: Literal["good", "bad"] = "good" if free > _SPARE_BYTES else "bad"
    yield Finding("disk", state, f"{free / 1e9:.1f} GB free at {folder}", "" if state == "good" else "Make room.")


def _journal(settings: Settings) -> Iterator[Finding]:
    path = settings.journal.path
    if not path.is_file():
        yield Finding("journal", "good", f"{path} does not exist yet; `up` makes it")
        return

    last_position, kept = asyncio.run(_looked_into(settings))
    yield Finding("journal", "good", f"{last_position} messages in {path}")
    embedder = embedder_for(settings.embedder.kind)
    if embedder is not None:
        yield _vectors(kept, embedder.fingerprint)


async def _looked_into(settings: Settings) -> tuple[int, dict[str, int]]:
    """The journal's last position, and its vectors by embedder."""
    journal = SqliteJournal(settings.journal, RecordedMeasures())
    async with journal.open():
        return journal.state().last_position, await journal.embedders()


def _vectors(kept: dict[str, int], fingerprint: str) -> Finding:
    others = ", ".join(f"{count} of {name}" for name, count in kept.items() if name != fingerprint)
    if not others:
        return Finding("vectors", "good", f"{kept.get(fingerprint, 0)} of {fingerprint}")
    return Finding(
        "vectors",
        "warning",
        f"the journal has {others}; the embedder in use is {fingerprint}",
        "They are made anew when their agent is first touched; `beforehand embed` makes them all.",
    )


def _broker(settings: Settings) -> Iterator[Finding]:
    named = settings.broker
    if named.host is None and named.socket is None:
        kind = choose(named.embedded, installed=find_mosquitto() is not None)
        yield Finding("broker", "good", f"none configured: `up` starts {kind} on loopback")
        return

    async def reach() -> None:
        connection = Connection(from_settings(named, client_id=""))
        await connection.open()
        await connection.close()

    asyncio.run(reach())
    yield Finding("broker", "good", f"reached {named.host or named.socket}")


def _embedder(settings: Settings) -> Iterator[Finding]:
    embedder = embedder_for(settings.embedder.kind)
    if embedder is None:
        yield Finding("embedder", "good", "none, as configured: memory is searched by words alone")
    else:
        yield Finding("embedder", "good", f"{embedder.fingerprint}, {embedder.dimensions} dimensions")


def _rules(settings: Settings) -> Iterator[Finding]:
    packs = rule_files.load(settings.policy.packs)
    yield Finding("rules", "good", f"{sum(len(pack.rules) for pack in packs)} rules in {len(packs)} packs")


def _model(settings: Settings) -> Iterator[Finding]:
    model = assembly.trigger_model(settings)
    if model is None and settings.policy.model == NO_MODEL:
        yield Finding("model", "good", "none, as configured: rules alone decide")
    elif model is None:
        yield Finding(
            "model",
            "bad",
            f"{settings.policy.model!r} is refused, the log says why",
            "Promote another (`beforehand models list`), or set policy.model.",
        )
    else:
        yield Finding("model", "good", f"{model.card.name} {model.card.version}, {len(model.card.features)} features")


def _http(settings: Settings) -> Iterator[Finding]:
    named = settings.http
    if named.port is None:
        yield Finding("http", "good", "health and metrics are not served; set http.port for probes and Prometheus")
    else:
        yield Finding("http", "good", f"`up` serves http://{named.host}:{named.port}/readyz, /healthz and /metrics")


_LOOKS = (_threads, _disk, _journal, _broker, _embedder, _rules, _model, _http)
