"""`beforehand doctor`: looks at everything a daemon needs and says what to do about what is wrong."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import orjson
import typer
from rich.table import Table
from rich.text import Text

from beforehand import assembly, limits
from beforehand.backends import rule_files
from beforehand.backends.broker.embedded import choose, find_mosquitto, require_free
from beforehand.backends.embedders import embedder_for
from beforehand.backends.journal.keys import keys_of, master_of
from beforehand.backends.journal.lock import holder_of
from beforehand.backends.journal.repair import faults_of
from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.locks import is_stopped
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import from_settings
from beforehand.cli.keep import counted
from beforehand.cli.shared import FAILED, Config, Journal, Json, advising, load, out, print_json
from beforehand.errors import AnswerRefused, BeforehandError, KeysUnusable, LanguageModelError
from beforehand.lifecycle.models_in_use import trigger_model
from beforehand.memory import prompts
from beforehand.messages.interpretation import ReadFact
from beforehand.ports.language_model import LanguageModel
from beforehand.settings import NO_MODEL, Settings

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_SPARE_BYTES: Final = 1_000_000_000
_CLOCK_S: Final = 5.0
_ASK_S: Final = 3.0
_SAID: Final = "I am allergic to peanuts, and I live in Porto."


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `advice` is empty when it is good."""

    part: str
    state: Literal["good", "warning", "bad"]
    detail: str
    advice: str = ""


def doctor(config: Config = None, journal: Journal = None, json: Json = False) -> None:
    """Check all that a daemon needs, from settings and disk to rules and model. Exit code 1 when something is bad."""
    with advising():
        settings = load(config, journal={"path": journal})
    findings = [finding for look in _LOOKS for finding in _looked(look, settings)]
    if json:
        print_json([asdict(finding) for finding in findings])
    else:
        colours = {"good": "green", "warning": "yellow", "bad": "red"}
        table = Table("part", "state", "detail", "advice", box=None)
        for one in findings:
            table.add_row(one.part, Text(one.state, colours[one.state]), one.detail, one.advice)
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
    slow = "Set it to 1: short calls are 5-80 times slower with more."
    for name in _THREADS:
        alone = Finding("threads", "good", f"{name}=1")
        yield alone if os.environ.get(name) == "1" else Finding("threads", "warning", f"{name} is not 1", slow)


def _disk(settings: Settings) -> Iterator[Finding]:
    folder = settings.journal.path.absolute().parent
    if not folder.is_dir():
        yield Finding("disk", "bad", f"there is no folder {folder}", "Make it, or set journal.path.")
        return
    free = shutil.disk_usage(folder).free
    said = f"{free / 1e9:.1f} GB free at {folder}"
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        yield Finding("disk", "bad", f"{folder} is mounted read-only", "Mount it writable; nothing is lost meanwhile.")
    elif free < limits.DISK_LOW_BYTES:
        advice = "Make room: the daemon stores again by itself, and what waits at brokers and clients arrives."
        yield Finding("disk", "bad", said, advice)
    elif free < _SPARE_BYTES:
        yield Finding("disk", "warning", said, "Make room before it is full.")
    else:
        yield Finding("disk", "good", said)


def _journal(settings: Settings) -> Iterator[Finding]:
    path = settings.journal.path
    if path.exists() and not path.is_file():
        yield Finding("journal", "bad", f"{path} is not a file", "Set journal.path to the name of a file.")
        return
    if not path.is_file() or not path.stat().st_size:
        held = "is empty" if path.is_file() else "does not exist yet"
        yield Finding("journal", "good", f"{path} {held}; `up` makes it")
        return
    found = faults_of(path)
    if found:
        advice = "Stop the daemon, then `beforehand repair`, or `beforehand restore FILE` when there is a backup."
        yield Finding("journal", "bad", f"{path} is damaged: {found[0]}", advice)
        return
    try:
        last, received_us, kept = asyncio.run(_looked_into(settings))
    except KeysUnusable:
        return  # `_keys` has said so
    yield Finding("journal", "good", f"{last} messages in {path}, every page is whole")
    if not os.access(path, os.W_OK):
        yield Finding(
            "journal", "bad", f"{path} cannot be written by this user", "Run as its owner, or change its mode."
        )
    ahead_s = received_us / 1e6 - time.time()
    if ahead_s > _CLOCK_S:
        detail = f"the newest message was stored {ahead_s:,.0f} s in the future: the clock was set back"
        advice = "Set the clock. The order of a run is its own and does not change; ages and expiry are off until then."
        yield Finding("clock", "warning", detail, advice)
    embedder = embedder_for(settings.embedder.kind)
    if embedder is not None:
        yield _vectors(kept, embedder.fingerprint)


def _keys(settings: Settings) -> Iterator[Finding]:
    """Whether what the journal keeps is sealed, and whether it can be opened."""
    named = settings.journal
    if not named.path.is_file():
        yield Finding("keys", "good", "none" if master_of(named) is None else "the master key can be read")
        return
    keys = keys_of(named)
    if keys.store is None:
        yield Finding("keys", "good", "none, as configured: what the journal keeps can be read off the disk")
        return
    place = keys.store.path
    yield Finding("keys", "good", f"the journal is sealed, its keys are in {place}")
    lost = keys.lost(named.path)
    if lost:
        yield Finding("keys", "good", f"of a restored copy, {counted(lost)} stay unreadable: they were erased")
    if place.absolute().parent == named.path.absolute().parent:
        detail = "the key store stands beside the journal: whoever copies the folder copies both"
        yield Finding("keys", "warning", detail, "Move it out of what is backed up, and set journal.key_store.")


async def _looked_into(settings: Settings) -> tuple[int, int, dict[str, int]]:
    """The journal's last position, when that message came (us since 1970, UTC), and its vectors by embedder."""
    journal = SqliteJournal(settings.journal, RecordedMeasures())
    async with journal.open():
        last = journal.state().last_position
        pages = [page async for page in journal.read(after=max(last - 1, 0))]
        return last, pages[-1][-1].entry.received_us if pages else 0, await journal.embedders()


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


def _serving(settings: Settings) -> Iterator[Finding]:
    """Who serves from the journal, and whether it runs."""
    path = settings.journal.path
    if not path.is_file():
        return
    holder = holder_of(path)
    if holder is None:
        yield Finding("daemon", "good", "none serves from this journal now")
    elif is_stopped(holder):
        detail = f"process {holder} serves from this journal and stands still (SIGSTOP)"
        yield Finding("daemon", "bad", detail, f"Let it go on: `kill -CONT {holder}`; what waits for it arrives.")
    else:
        yield Finding("daemon", "good", f"process {holder} serves from this journal")


def _broker(settings: Settings) -> Iterator[Finding]:
    named = settings.broker
    if named.host is None and named.socket is None:
        kind = choose(named.embedded, installed=find_mosquitto() is not None)
        if holder_of(settings.journal.path) is None:
            require_free(named.started_port)
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
    model = trigger_model(settings)
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
    """Where health is served, and what a daemon that answers there says is at fault."""
    named = settings.http
    if not named.port:
        yield Finding("http", "good", "health and metrics are not served; set http.port for probes and Prometheus")
        return
    url = f"http://{named.host}:{named.port}/readyz"
    said = _asked(url)
    if said is None:
        yield Finding("http", "good", f"no daemon answers at {url} now")
        return
    yield Finding("http", "good", f"{url} says {said['state']}")
    if limited := said.get("limited"):
        advice = "Look why they send so much, or raise intake.agent_messages_per_s."
        yield Finding("intake", "warning", f"over their rate: {', '.join(limited)}", advice)
    for fault in said["faults"]:
        yield Finding(fault["part"], "bad" if fault["stops"] else "warning", fault["reason"], fault["advice"])


def _asked(url: str) -> dict[str, Any] | None:
    """What readyz says; None when nothing answers."""
    try:
        with urllib.request.urlopen(url, timeout=_ASK_S) as page:  # noqa: S310  built from our own settings
            said: dict[str, Any] = orjson.loads(page.read())
    except urllib.error.HTTPError as error:
        with error:
            said = orjson.loads(error.read())
    except (OSError, ValueError):
        return None
    return said


def _language_model(settings: Settings) -> Iterator[Finding]:
    """One sentence is read, where an endpoint is configured."""
    model = assembly.language_model(settings.language_model)
    if model is None:
        return
    began_s = time.monotonic()
    try:
        found, unbound = asyncio.run(_read(model))
    except (LanguageModelError, AnswerRefused) as error:
        advice = error.advice or "Another model may answer in JSON; nothing waits for it."
        yield Finding("language model", "warning", error.problem, advice)
        return
    detail = f"{model.name} read {len(found)} of 2 facts in {time.monotonic() - began_s:.1f} s"
    if len(found) == 2 and not unbound:
        yield Finding("language model", "good", detail)
    else:
        yield Finding("language model", "warning", detail, "Try another model: what is not quoted is not believed.")


async def _read(model: LanguageModel) -> tuple[list[ReadFact], int]:
    async with model.open():
        completion = await model.complete(prompts.FACTS, prompts.facts_asked(_SAID))
    return prompts.facts_in(completion.text, _SAID)


_LOOKS = (_threads, _disk, _serving, _keys, _journal, _broker, _embedder, _rules, _model, _language_model, _http)
