"""`beforehand doctor`: looks at everything a daemon needs and says what to do about what is wrong."""

from __future__ import annotations

import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, Final

import orjson
import typer
from rich.table import Table
from rich.text import Text

from beforehand import assembly
from beforehand.backends import rule_files
from beforehand.backends.broker.embedded import choose, find_mosquitto, require_free
from beforehand.backends.embedders import embedder_for
from beforehand.backends.journal.lock import holder_of
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import from_settings
from beforehand.cli import doctor_journal
from beforehand.cli.doctor_journal import Finding
from beforehand.cli.shared import FAILED, Config, Journal, Json, advising, awaited, load, out, print_json
from beforehand.errors import AnswerRefused, BeforehandError, LanguageModelError
from beforehand.lifecycle.models_in_use import trigger_model
from beforehand.memory import prompts
from beforehand.messages.interpretation import ReadFact
from beforehand.ports.language_model import LanguageModel
from beforehand.settings import NO_MODEL, Settings

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_ASK_S: Final = 3.0
_SAID: Final = "I am allergic to peanuts, and I live in Porto."


def doctor(config: Config = None, journal: Journal = None, json: Json = False) -> None:
    """Check all that a daemon needs, from settings and disk to rules and model. Exit code 1 when something is bad.

    Every message of the journal is read, which takes about 20 s for a million of them. The daemon may run.
    """
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

    awaited(reach())
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
        found, unbound = awaited(_read(model))
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


_LOOKS = (
    _threads,
    doctor_journal.disk,
    doctor_journal.serving,
    doctor_journal.keys,
    doctor_journal.journal,
    *(_broker, _embedder, _rules, _model, _language_model, _http),
)
