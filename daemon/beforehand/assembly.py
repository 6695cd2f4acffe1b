"""The only place that chooses backends: settings in, a daemon or a replay out."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from beforehand import shipped
from beforehand.backends import models, rule_files
from beforehand.backends.clocks import SystemClock, VirtualClock
from beforehand.backends.embedders import embedder_for
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.memory.broker import MemoryBroker
from beforehand.backends.memory.bus import MemoryBus
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.backends.mqtt.bus import MqttBus
from beforehand.errors import ModelRefused, SettingsError
from beforehand.index.semantic import SemanticWindows
from beforehand.intake.door import Door
from beforehand.intake.receipts import Receipts
from beforehand.lifecycle.daemon import Daemon
from beforehand.messages import codec
from beforehand.messages.outbound import CumulativeReceipt, Receipt
from beforehand.pipeline.answers import Answers
from beforehand.pipeline.foresight import Foresight
from beforehand.pipeline.memories import Memories
from beforehand.pipeline.packets import Packets
from beforehand.pipeline.publisher import Outgoing, Publisher
from beforehand.pipeline.way import Pipeline
from beforehand.ports import Bus, Clock, Embedder, Journal, Measures, Model
from beforehand.replay import Replay
from beforehand.settings import NO_MODEL, PolicySettings, Settings
from beforehand.trigger import features
from beforehand.trigger.packs import Pack
from beforehand.trigger.policy import Policy

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Parts:
    """What comes from files. `missing`: parts that are configured and cannot be used."""

    packs: Sequence[Pack]
    embedder: Embedder | None
    model: Model | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class World:
    """The backends of one daemon."""

    bus: Bus
    journal: Journal
    clock: Clock
    measures: Measures
    parts: Parts


def read_parts(settings: Settings) -> Parts:
    """Everything read from files. Raises SettingsError, NotFound, RuleError, EmbedderError."""
    packs = rule_files.load(settings.policy.packs)
    model = trigger_model(settings.policy.model)
    refused = model is None and settings.policy.model != NO_MODEL
    return Parts(packs, embedder_for(settings.embedder.kind), model, ("trigger model",) if refused else ())


def daemon(settings: Settings, state_folder: Path, measures: Measures, parts: Parts | None = None) -> Daemon:
    """A daemon on the real world. Raises as `read_parts`.

    state_folder: for lock files. parts: those that were read already, else they are read.
    """
    world = World(
        bus=MqttBus(settings.broker, measures, state_folder),
        journal=_journal(settings, measures),
        clock=SystemClock(),
        measures=measures,
        parts=parts or read_parts(settings),
    )
    publisher = Publisher(world.bus, world.clock, measures)
    pipeline = _pipeline(settings, world, publisher, gap_wait_s=settings.policy.gap_wait_s)
    send = _sender(publisher)
    return Daemon(
        bus=world.bus,
        journal=world.journal,
        door=_door(settings, world, send),
        pipeline=pipeline,
        publisher=publisher,
        receipts=Receipts(send, world.clock, measures, settings.broker.root),
        measures=measures,
        missing=world.parts.missing,
    )


def replay(settings: Settings, measures: Measures) -> Replay:
    """The same daemon in memory, on virtual time. Raises as `daemon`."""
    clock = VirtualClock()
    broker = MemoryBroker(clock.monotonic_s)
    world = World(
        bus=MemoryBus(broker, root=settings.broker.root),
        journal=MemoryJournal(),
        clock=clock,
        measures=measures,
        parts=read_parts(settings),
    )
    publisher = Publisher(world.bus, clock, measures)
    return Replay(
        door=_door(settings, world, _sender(publisher), new_id=_counting("m")),
        pipeline=_pipeline(settings, world, publisher, boot="replay", gap_wait_s=0.0),
        publisher=publisher,
        journal=world.journal,
        bus=world.bus,
        clock=clock,
        listener=broker.connect("listener"),
        root=settings.broker.root,
    )


def trigger_model(name: str) -> Model | None:
    """The shipped model of that name, or the one in a folder; None for "none", or with a warning when it is refused.

    Raises SettingsError when there is no such model.
    """
    if name == NO_MODEL:
        return None
    folder = _model_folder(name)
    try:
        return models.load(folder, features.NAMES, features.DEFINITION)
    except ModelRefused as refusal:
        _log.warning("the trigger model is not used", reason=str(refusal))
        return None


def _model_folder(name: str) -> Path:
    if "/" in name:
        folder, advice = Path(name), "Give the folder that `beforehand train` wrote."
    else:
        trained = shipped.folder("models") / "trigger"
        folder = trained / name
        known = sorted(each.name for each in trained.iterdir() if each.is_dir())
        advice = f"Shipped are {', '.join(known)}; {NO_MODEL} means rules alone; a folder has a slash in it."
    if not folder.is_dir():
        raise SettingsError(f"setting policy.model: there is no trigger model {name!r}.", advice)
    return folder


def memories(settings: Settings, measures: Measures) -> tuple[Journal, Memories]:
    """A journal, to be opened by the caller, and what is remembered over it, without a daemon. Raises EmbedderError."""
    journal = _journal(settings, measures)
    return journal, _memories(settings, journal, embedder_for(settings.embedder.kind), measures)


def policy_of(settings: PolicySettings) -> Policy:
    """The policy that the settings describe."""
    return Policy(
        name=settings.name,
        horizon=settings.horizon,
        budget_tokens=settings.budget_tokens,
        window_events=settings.window_events,
        threshold=settings.threshold,
        token_price=settings.token_price,
        rule_share=settings.rule_share,
        bar=settings.bar,
    )


def _journal(settings: Settings, measures: Measures) -> Journal:
    if str(settings.journal.path) == ":memory:":
        return MemoryJournal()
    return SqliteJournal(settings.journal, measures)


def _memories(settings: Settings, journal: Journal, embedder: Embedder | None, measures: Measures) -> Memories:
    return Memories(journal, embedder, SemanticWindows, measures, settings.memory.agents_hot)


def _pipeline(
    settings: Settings, world: World, publisher: Publisher, *, gap_wait_s: float, boot: str | None = None
) -> Pipeline:
    """gap_wait_s: 0 where messages come one by one, and none can be on its way."""
    policy = policy_of(settings.policy)
    root = settings.broker.root
    parts = world.parts
    return Pipeline(
        memories=_memories(settings, world.journal, parts.embedder, world.measures),
        foresight=Foresight(parts.packs, policy, parts.model, parts.embedder, parts.missing),
        packets=Packets(
            journal=world.journal,
            publisher=publisher,
            clock=world.clock,
            measures=world.measures,
            policy=policy,
            root=root,
            boot=boot or secrets.token_hex(8),
        ),
        answers=Answers(publisher, parts.embedder, world.clock, policy, root),
        clock=world.clock,
        measures=world.measures,
        policy=policy,
        gap_wait_s=gap_wait_s,
    )


def _door(
    settings: Settings,
    world: World,
    send: Callable[[str, Receipt | CumulativeReceipt], None],
    new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
) -> Door:
    return Door(world.journal, world.clock, world.measures, send, new_id, settings.broker.root)


def _sender(publisher: Publisher) -> Callable[[str, Receipt | CumulativeReceipt], None]:
    return lambda topic, receipt: publisher.put(Outgoing(topic, codec.write(receipt)))


def _counting(prefix: str) -> Callable[[], str]:
    """Ids in order, so that a replay repeats exactly."""
    count = iter(range(1, 2**62))
    return lambda: f"{prefix}{next(count)}"
