"""What a daemon's own journal teaches: the features that serving saw, and labels from calls and from feedback."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.main import app
from beforehand.messages.topics import Scope
from beforehand.pipeline.foresight import Foresight
from beforehand.replay import Replay
from beforehand.settings import JournalSettings
from beforehand.training.journalled import Moment, lesson_of, moments
from beforehand.training.judging import labels_of
from beforehand.training.playing import play
from recorded import quick_replay, recorded
from stage import Stage, staged

STEPS = 1_000
TOOLS = {
    "get_order": ("order_id",),
    "find_user": ("email", "zip_code"),
    "refund": ("order_id", "card"),
    "send": ("to", "text", "date"),
    "list_items": (),
}
WORDS = ("parcel", "refund", "late", "table", "seat", "paid", "Anna", "Boston", "card", "order", "return", "please")


def said(draw: random.Random) -> str:
    return " ".join([*draw.choices(WORDS, k=draw.randint(1, 8)), f"#W{draw.randint(10, 40)}"])


def value(draw: random.Random) -> Any:
    return draw.choice([f"#W{draw.randint(10, 40)}", draw.randint(1, 999), said(draw), "2026-03-01", [1, {"zip": "1"}]])


async def wander(replay: Replay, scope: Scope, draw: random.Random, steps: int) -> None:
    """A run of an agent that plans at times, is told things, calls tools at random and rates some packets."""
    for number in range(steps):
        tool = draw.choice(list(TOOLS))
        if draw.random() < 0.05:
            plan = [{"id": f"s{number + n}", "tool": tool, "goal": said(draw), "needs": TOOLS[tool]} for n in range(2)]
            await replay.feed(scope, "plan", {"steps": plan, "revision": number, "goal": said(draw)})
        for _ in range(draw.randint(0, 2)):
            await replay.feed(scope, "event", {"kind": "message", "role": "user", "text": said(draw)})
        step = {"step": f"s{number}", "phase": "begin", "tool": tool, "goal": said(draw), "needs": TOOLS[tool]}
        await replay.feed(scope, "step", step)
        args = {name: value(draw) for name in TOOLS[tool]}
        await replay.feed(scope, "event", {"kind": "action", "role": "agent", "tool": tool, "args": args})
        result = {key: value(draw) for key in draw.sample(["order_id", "card", "zip", "items", "email"], 3)}
        ok = draw.random() < 0.8
        await replay.feed(
            scope, "event", {"kind": "observation", "role": "tool", "tool": tool, "data": result, "ok": ok}
        )
        await replay.feed(scope, "step", {"step": f"s{number}", "phase": "end", "ok": ok})


def test_features_of_serving_equal_features_of_the_replayed_journal_bit_for_bit_on_1000_random_steps(monkeypatch):
    consider = Foresight.consider
    served: dict[tuple[Scope, str], bytes] = {}

    def seen(self, memory, session, step, now_us):
        matter = consider(self, memory, session, step, now_us)
        served[session.scope, step.id] = matter.features.tobytes()
        return matter

    async def compare() -> list[int]:
        serving, training = quick_replay(), quick_replay()
        monkeypatch.setattr(Foresight, "consider", seen)
        async with serving.open():
            for number in range(STEPS // 25):
                scope = Scope("t", f"a{number // 4}", f"r{number}")
                await wander(serving, scope, random.Random(number), 25)
            monkeypatch.setattr(Foresight, "consider", consider)
            async with training.open():
                return [
                    moment.matter.features.shape[0]
                    async for moment in moments(serving.journal, training)
                    if served[moment.scope, moment.step.id] == moment.matter.features.tobytes()
                ]

    same = asyncio.run(compare())
    assert len(same) == STEPS
    assert sum(same) > 20 * STEPS, "most steps have many candidates"


REFUND = {"goal": "refund", "tool": "refund_order", "needs": ["order_id", "card"]}


async def refunded(stage: Stage, step: str = "s1", **args: str) -> Any:
    """An order was looked up, and the step that needs it is over. Returns its packet."""
    await stage.event("please refund my order", role="user")
    data = {"order_id": "W77", "card": "c_99", "note": "left at the door"}
    await stage.event(kind="observation", tool="get_order", role="tool", data=data)
    packet = await stage.begin(step, **REFUND)
    if args:
        await stage.event(kind="action", role="agent", tool="refund_order", args=args)
    await stage.say("step", step=step, phase="end", ok=True)
    return packet


async def learned(stage: Stage) -> dict[str, tuple[bool, int, float]]:
    """Passage to (known, carried, weight) of the newest step."""
    found: dict[str, tuple[bool, int, float]] = {}
    replay = quick_replay()
    async with replay.open():
        async for moment in moments(stage.replay.journal, replay):
            found = told(moment)
    return found


def told(moment: Moment) -> dict[str, tuple[bool, int, float]]:
    candidates = moment.matter.candidates
    labels = labels_of(candidates, moment.judged, moment.needed)
    rows = zip(labels.known.tolist(), labels.carried.tolist(), labels.weights.tolist(), strict=True)
    return {candidates.passage(index).text.partition(" (")[0]: row for index, row in enumerate(rows)}


def item(packet, text):
    [found] = [one.id for one in packet.items if one.text.startswith(text)]
    return found


def test_feedback_finds_its_packet_when_the_journal_is_played_again():
    async def tell(stage):
        packet = await refunded(stage, order_id="W77")
        await stage.say("feedback", packet=packet.id, used=[item(packet, "order_id: W77")])
        with capture_logs() as logs:
            await learned(stage)
        assert logs == [], "no feedback is said to be about a packet that is not there"

    staged(tell)


def test_what_a_call_took_is_labelled_and_what_it_did_not_take_as_well():
    async def tell(stage):
        await refunded(stage, order_id="W77")
        found = await learned(stage)
        assert found["order_id: W77"] == (True, 1, 1.0)
        assert found["card: c_99"] == (True, 0, 1.0)

    staged(tell)


def test_without_a_call_and_without_feedback_nothing_is_known():
    async def tell(stage):
        await refunded(stage)
        assert {known for known, _, _ in (await learned(stage)).values()} == {False}

    staged(tell)


def test_feedback_labels_what_was_shown_and_nothing_else():
    async def tell(stage):
        packet = await refunded(stage)
        await stage.say("feedback", packet=packet.id, used=[item(packet, "order_id")], harmful=[item(packet, "card")])
        found = await learned(stage)
        assert found["order_id: W77"] == (True, 1, 1.0)
        assert found["card: c_99"] == (True, 0, 3.0)
        shown = {one.text.partition(" (")[0] for one in packet.items}
        assert {text for text, (known, _, _) in found.items() if known} == shown

    staged(tell)


def test_feedback_says_more_than_the_arguments_of_the_call():
    async def tell(stage):
        packet = await refunded(stage, order_id="W77")
        await stage.say("feedback", packet=packet.id, used=[item(packet, "card")])
        found = await learned(stage)
        assert found["card: c_99"] == (True, 1, 1.0)
        assert found["order_id: W77"] == (True, 0, 1.0)

    staged(tell)


def test_what_was_missing_is_labelled_by_its_value():
    async def tell(stage):
        packet = await refunded(stage)
        await stage.say("feedback", packet=packet.id, missing="it was left at the door, you knew")
        assert (await learned(stage))["note: left at the door"] == (True, 1, 1.0)

    staged(tell)


@pytest.mark.parametrize(("propensity", "weight"), [(0.9, 1 / 0.9), (0.001, 20.0)])
def test_a_rating_counts_for_those_that_were_held_back_at_random(propensity, weight):
    async def tell(stage):
        packet = await refunded(stage)
        await stage.say("feedback", packet=packet.id, used=[])
        replay = quick_replay()
        async with replay.open():
            [moment] = [one async for one in moments(stage.replay.journal, replay)]
        moment.judged.propensity = propensity
        assert told(moment)["card: c_99"] == (True, 0, pytest.approx(weight))

    staged(tell)


def test_the_propensity_is_read_from_the_decision():
    async def tell(stage):
        await refunded(stage)
        journal = stage.replay.journal
        packets = type(journal).packets

        async def of_a_trial(scope):
            found = await packets(journal, scope)
            silence = {"epsilon": 0.2, "held": False, "propensity": 0.8}
            return [type(one)(one.packet, {**one.decision, "trial": {"silence": silence}}) for one in found]

        replay = quick_replay()
        async with replay.open():
            assert [one.judged.propensity async for one in moments(journal, replay)] == [1.0]
            journal.packets = of_a_trial
        async with (again := quick_replay()).open():
            assert [one.judged.propensity async for one in moments(journal, again)] == [0.8]

    staged(tell)


def test_a_lesson_splits_a_journal_by_what_the_user_asked_for():
    async def teach() -> tuple[int, int]:
        serving, training = quick_replay(), quick_replay()
        async with serving.open(), training.open():
            for run in recorded("tau_retail")[:6]:
                for copy in range(2):
                    async for _ in play(serving, run, Scope("t", run.id, f"{run.id}{copy}")):
                        pass
            lesson = await lesson_of(serving.journal, training, "shop")
        assert lesson.source == "shop"
        assert (lesson.taught.labels > 0).any()
        assert np.isfinite(lesson.taught.features).all()
        return len(lesson.taught.labels), len(lesson.held.labels)

    taught, held = asyncio.run(teach())
    assert taught > held > 0


def test_a_journal_trains_a_model_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def fill() -> None:
        serving = quick_replay()
        journal = SqliteJournal(JournalSettings(path=tmp_path / "shop.sqlite3"), RecordedMeasures())
        async with serving.open(), journal.open():
            for run in recorded("tau_retail")[:8]:
                async for _ in play(serving, run, Scope("t", run.id, run.id)):
                    pass
                await journal.record(await serving.journal.packets(Scope("t", run.id, run.id)))
            async for page in serving.journal.read():
                await journal.append([row.entry for row in page])

    asyncio.run(fill())
    words = ["train", "shop.sqlite3", "--into", "mine", "--current", "none"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "mine" / "model.ubj").is_file()


def test_a_journal_that_teaches_nothing_is_refused_with_advice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def make() -> None:
        async with SqliteJournal(JournalSettings(path=tmp_path / "empty.sqlite3"), RecordedMeasures()).open():
            pass

    asyncio.run(make())
    result = CliRunner().invoke(app, ["train", "empty.sqlite3", "--into", "mine"])
    assert result.exit_code == 1
    assert "teaches too little" in " ".join(result.output.split())
