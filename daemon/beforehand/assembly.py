"""The only place that chooses backends: settings in, a daemon or a replay out."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from beforehand.backends import rule_files
from beforehand.backends.clocks import SystemClock, VirtualClock
from beforehand.backends.embedders import embedder_for
from beforehand.backends.experiment_files import Register
from beforehand.backends.journal import SqliteJournal
from beforehand.backends.memory.broker import MemoryBroker
from beforehand.backends.memory.bus import MemoryBus
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.backends.mqtt.bus import MqttBus
from beforehand.backends.registry import Registry
from beforehand.backends.segments import KeyOf, SegmentFolder, no_key
from beforehand.index.semantic import SemanticWindows
from beforehand.intake.door import Door
from beforehand.intake.rates import Rates
from beforehand.intake.receipts import Receipts
from beforehand.lifecycle.daemon import Daemon
from beforehand.lifecycle.enrolling import Enrolling, arm_builder
from beforehand.lifecycle.models_in_use import models_in_use, trigger_model
from beforehand.lifecycle.reloading import Reloading
from beforehand.messages import codec
from beforehand.messages.interpretation import Use
from beforehand.messages.outbound import CumulativeReceipt, Receipt
from beforehand.pipeline.allowance import Allowance
from beforehand.pipeline.answers import Answers, planted
from beforehand.pipeline.arms import Arms, Decider
from beforehand.pipeline.changes import Changes
from beforehand.pipeline.foresight import Foresight
from beforehand.pipeline.gaps import Gaps
from beforehand.pipeline.interpreting import Interpreting
from beforehand.pipeline.memories import Bounds, Memories
from beforehand.pipeline.packets import Packets
from beforehand.pipeline.publisher import Outgoing, Publisher
from beforehand.pipeline.reading import reading_of
from beforehand.pipeline.shadow import Models
from beforehand.pipeline.taking import Taking
from beforehand.pipeline.trials import Trials
from beforehand.pipeline.way import Pipeline
from beforehand.ports import Bus, Clock, Embedder, Journal, Measures, Model
from beforehand.ports.language_model import LanguageModel
from beforehand.ports.segments import Segments
from beforehand.replay import Replay
from beforehand.settings import IntakeSettings, LanguageModelSettings, PolicySettings, Settings
from beforehand.trigger.packs import Pack
from beforehand.trigger.policy import APPETITES, Policy

if TYPE_CHECKING:
    from beforehand.lifecycle.expiring import Expiring

_Send = Callable[[str, Receipt | CumulativeReceipt], None]


@dataclass(frozen=True, slots=True)
class Parts:
    """What comes from files. promoted: `Registry.stamp` before the models were read."""

    packs: Sequence[Pack]
    embedder: Embedder | None
    models: Models
    promoted: tuple[int, int] | None


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
    promoted = Registry(settings.models.folder).stamp()
    return Parts(packs, embedder_for(settings.embedder.kind), models_in_use(settings), promoted)


async def try_journal(settings: Settings, measures: Measures) -> None:
    """Open the journal and close it again. Raises JournalError with what is wrong with it."""
    async with _journal(settings, measures).open():
        pass


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
    return daemon_on(settings, world, _counting(f"{secrets.token_hex(12)}-"))


def daemon_on(settings: Settings, world: World, new_id: Callable[[], str]) -> Daemon:
    """A daemon on these backends. new_id: names messages that have no id."""
    measures = world.measures
    publisher = Publisher(world.bus, world.clock, measures)
    pipeline = _pipeline(settings, world, publisher, gap_wait_s=settings.policy.gap_wait_s)
    send = _sender(publisher)
    return Daemon(
        bus=world.bus,
        journal=world.journal,
        door=_door(settings, world, send, new_id, rates_of(settings.intake)),
        pipeline=pipeline,
        publisher=publisher,
        receipts=Receipts(send, world.clock, measures, settings.broker.root, settings.intake.agent_messages_per_s),
        measures=measures,
        reloading=reloading(settings, pipeline, measures, world.parts.promoted),
        enrolling=enrolling(settings, pipeline, measures),
        interpreting=interpreting(settings.language_model, pipeline, world.journal),
        expiring=expiring(settings, pipeline, world.journal, measures),
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
        pipeline=_pipeline(settings, world, publisher, gap_wait_s=0.0),
        publisher=publisher,
        journal=world.journal,
        bus=world.bus,
        clock=clock,
        listener=broker.connect("listener"),
        root=settings.broker.root,
    )


def reloading(settings: Settings, pipeline: Pipeline, measures: Measures, seen: tuple[int, int] | None) -> Reloading:
    """What brings another promoted model into a running pipeline. seen: `Parts.promoted` of what it runs with."""
    return Reloading(
        stamp=Registry(settings.models.folder).stamp,
        read=partial(models_in_use, settings),
        use=pipeline.use,
        measures=measures,
        every_s=settings.models.look_every_s,
        seen=seen,
    )


def enrolling(settings: Settings, pipeline: Pipeline, measures: Measures) -> Enrolling:
    """What brings experiments that are started or stopped into a running pipeline."""
    return Enrolling(Register(settings.experiments.folder), pipeline.trials.arms, pipeline.clock, measures)


def expiring(settings: Settings, pipeline: Pipeline, journal: Journal, measures: Measures) -> Expiring | None:
    """What empties messages that are kept too long; None where nothing is kept for a time, or in memory alone."""
    retention = settings.retention.retention
    if retention.shortest_days is None or not isinstance(journal, SqliteJournal):
        return None
    from beforehand.lifecycle.expiring import Expiring  # noqa: PLC0415  it loads what opens sealed rows; few need it

    return Expiring(retention, settings.journal, journal, pipeline, measures)


def language_model(settings: LanguageModelSettings) -> LanguageModel | None:
    """The language model that the settings name; None where they name none."""
    if settings.base_url is None:
        return None
    from beforehand.backends.language_model import ChatEndpoint  # noqa: PLC0415  its HTTP client is for who asks one

    return ChatEndpoint(settings)


def interpreting(settings: LanguageModelSettings, pipeline: Pipeline, journal: Journal) -> Interpreting | None:
    """What asks a language model behind the lanes; None where the settings name none."""
    model = language_model(settings)
    if model is None:
        return None
    uses: dict[Use, bool] = {"facts": settings.facts, "summary": settings.summaries}
    wanted = frozenset(use for use, is_wanted in uses.items() if is_wanted)
    allowance = Allowance(settings.tokens_per_hour)
    return Interpreting(model, pipeline, journal, wanted, allowance, settings.requests)


def memories(settings: Settings, measures: Measures) -> tuple[Journal, Memories]:
    """A journal, to be opened by the caller, and what is remembered over it, without a daemon. Raises EmbedderError."""
    journal = _journal(settings, measures)
    return journal, _memories(settings, journal, embedder_for(settings.embedder.kind), measures)


def policy_of(settings: PolicySettings) -> Policy:
    """The policy that the settings describe: they have the same names. What was left out is the appetite's."""
    chosen = {each.name: getattr(settings, each.name) for each in fields(Policy)}
    appetite = APPETITES[settings.appetite]
    return Policy(**{name: getattr(appetite, name) if value is None else value for name, value in chosen.items()})


def _journal(settings: Settings, measures: Measures) -> Journal:
    if str(settings.journal.path) == ":memory:":
        return MemoryJournal()
    return SqliteJournal(settings.journal, measures)


def _memories(settings: Settings, journal: Journal, embedder: Embedder | None, measures: Measures) -> Memories:
    kept = segments(settings, measures, journal.key_of) if isinstance(journal, SqliteJournal) else None
    named = settings.memory
    bounds = Bounds(named.agents_hot, named.bytes, named.agent_events)
    return Memories(journal, embedder, SemanticWindows, measures, bounds, kept, reading_of(settings))


def segments(settings: Settings, measures: Measures, key_of: KeyOf = no_key) -> Segments | None:
    """Folded memories beside the journal; None where none are kept."""
    path = settings.journal.path
    if not settings.memory.segments_bytes:
        return None
    return SegmentFolder(path.with_name(f"{path.name}.segments"), measures, settings.memory.segments_bytes, key_of)


def _pipeline(settings: Settings, world: World, publisher: Publisher, *, gap_wait_s: float) -> Pipeline:
    """gap_wait_s: 0 where messages come one by one, and none can be on its way."""
    policy = policy_of(settings.policy)
    root = settings.broker.root
    parts = world.parts
    foresight = _foresight(parts, policy)
    build = arm_builder(settings.policy, rule_files.load, partial(_model_of, settings), partial(_decider, parts))
    packets = Packets(world.journal, publisher, world.clock, world.measures, policy, root)
    memories = _memories(settings, world.journal, parts.embedder, world.measures)
    changes = Changes(packets, Gaps(world.clock, gap_wait_s), world.clock)
    return Pipeline(
        memories=memories,
        taking=Taking(memories, packets.records, changes, world.measures),
        foresight=foresight,
        packets=packets,
        answers=Answers(publisher, parts.embedder, world.clock, policy, root, world.measures, planted(settings.memory)),
        clock=world.clock,
        measures=world.measures,
        trials=Trials(Arms(Decider(foresight, policy), build), world.measures),
        changes=changes,
    )


def _decider(
    parts: Parts, policy: PolicySettings, name: str, packs: Sequence[Pack] | None, models: Models | None
) -> Decider:
    """What decides under a policy. packs, models: None for the daemon's own."""
    own = replace(policy_of(policy), name=name)
    return Decider(_foresight(replace(parts, packs=packs or parts.packs, models=models or parts.models), own), own)


def _model_of(settings: Settings, name: str) -> Model | None:
    policy = settings.policy.model_copy(update={"model": name})
    return trigger_model(settings.model_copy(update={"policy": policy}))


def _foresight(parts: Parts, policy: Policy) -> Foresight:
    foresight = Foresight(parts.packs, policy, parts.models.live, parts.embedder)
    foresight.use(parts.models)
    return foresight


def _door(settings: Settings, world: World, send: _Send, new_id: Callable[[], str], rates: Rates | None = None) -> Door:
    """rates: left out of a replay, which takes everything that was taken."""
    return Door(world.journal, world.clock, world.measures, send, new_id, settings.broker.root, rates)


def rates_of(settings: IntakeSettings) -> Rates | None:
    """What limits agents; None where nobody is."""
    if not settings.agent_messages_per_s:
        return None
    return Rates(settings.agent_messages_per_s, settings.agent_burst_messages)


def _sender(publisher: Publisher) -> _Send:
    return lambda topic, receipt: publisher.put(Outgoing(topic, codec.write(receipt)))


def _counting(prefix: str) -> Callable[[], str]:
    """Ids in order: a replay repeats exactly; behind a drawn prefix they are nobody else's."""
    count = iter(range(1, 2**62))
    return lambda: f"{prefix}{next(count)}"
