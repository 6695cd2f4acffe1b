"""Policies over the same runs, and runs woven into one."""

import asyncio
from collections import Counter
from functools import cache

import orjson
import pytest

from beforehand.assembly import trigger_model
from beforehand.backends.rule_files import load
from beforehand.index.tokens import count_tokens
from beforehand.messages.topics import Scope
from beforehand.settings import Settings
from beforehand.training.collecting import Setting, stops
from beforehand.training.evaluating import Packets, Score, evaluate, policies
from beforehand.training.playing import play
from beforehand.training.weaving import weave, woven
from beforehand.trigger.policy import APPETITES, Policy
from recorded import quick_replay, recorded

RUNS = recorded("tau_retail")


@cache
def compared(view: int = 0, budgets: tuple[int, ...] = (256,)) -> dict[tuple[str, int], Score]:
    async def all_scores():
        replay = quick_replay()
        async with replay.open():
            foresight = quick_replay(model="default").pipeline.foresight
            known = policies(None, load(["core"]), Policy(), None)
            known["full"] = lambda: Packets(foresight)
            return await evaluate(replay, stops(replay, RUNS, Setting.SINGLE, name="t", view=view), known, budgets)

    return asyncio.run(all_scores())


def test_every_policy_meets_the_same_steps_within_its_budget():
    scores = compared(budgets=(64, 256))
    assert {(score.steps, score.needed) for score in scores.values()} == {
        (sum(len(run.calls()) for run in RUNS), sum(len(call.needed) for run in RUNS for call in run.calls()))
    }
    for (who, budget), score in scores.items():
        assert who == "kept" or score.tokens <= budget * score.steps


def test_no_packet_carries_more_than_memory_kept_and_that_is_all_but_secrets():
    scores = compared()
    kept = scores.pop(("kept", 256))
    assert kept.carried == kept.needed
    assert max(score.carried for score in scores.values()) <= kept.carried
    assert kept.tokens > 2 * max(score.tokens for score in scores.values())


def tokens_of(event):
    if event["type"] != "call":
        return count_tokens(event["text"])
    return count_tokens(f"{event['name']} {orjson.dumps(event['args']).decode()}")


def test_what_is_told_is_held_against_all_that_was_said_before():
    score = compared(budgets=(256,))["full", 256]
    before = [sum(map(tokens_of, run.events[: call.index])) for run in RUNS for call in run.calls()]
    told = score.summary()
    assert (score.history, told["history"]) == (sum(before), pytest.approx(sum(before) / score.steps, abs=1e-3))
    assert told["of_history"] == pytest.approx(score.tokens / sum(before), abs=1e-3)
    assert told["of_history"] < 1


def test_an_agent_without_memory_carries_nothing_and_the_daemon_most():
    scores = {who: score.summary() for (who, _), score in compared().items()}
    assert scores["nothing"]["recall"] == 0
    assert scores["full"]["recall"] > scores["lexical"]["recall"]
    assert scores["full"]["recall"] >= 0.9


def test_what_is_evaluated_is_what_the_daemon_publishes():
    async def both() -> tuple[int, int]:
        replay = quick_replay(model="default")
        carried = 0
        async with replay.open():
            for number, run in enumerate(RUNS):
                async for played in play(replay, run, Scope("t", f"a{number}", "r")):
                    carried += len(played.carried)
        return carried

    assert asyncio.run(both()) == compared()["full", 256].carried


@cache
def with_model() -> dict[tuple[str, int], Score]:
    async def all_scores():
        replay = quick_replay()
        async with replay.open():
            model = trigger_model(Settings())
            known = {
                name: make
                for name, make in policies(None, load(["core"]), Policy(), model).items()
                if name in {"full", "needs", *APPETITES}
            }
            return await evaluate(replay, stops(replay, RUNS, Setting.SINGLE, name="t"), known, (256,))

    return asyncio.run(all_scores())


def test_the_more_generous_the_more_is_carried_and_the_less_of_it_was_needed():
    scores = {who: score.summary() for (who, _), score in with_model().items()}
    frugal, balanced, generous = (scores[name] for name in ("frugal", "balanced", "generous"))
    assert frugal["tokens"] < balanced["tokens"] < generous["tokens"]
    assert frugal["precision"] > balanced["precision"] > generous["precision"]
    assert frugal["recall"] <= balanced["recall"] <= generous["recall"]
    assert balanced == {**scores["full"], "median_ms": balanced["median_ms"]}


def test_a_rule_for_whether_tells_every_step_that_names_needs():
    needing = [call for run in RUNS for call in run.calls() if call.needs]
    score = with_model()["needs", 256]
    assert score.tokens > 0
    assert score.told <= len(needing)


@pytest.mark.parametrize(("life", "agents"), [(1, 3), (2, 2), (99, 1)])
def test_a_life_is_so_many_runs_and_those_before_are_lived_through_and_not_counted(life: int, agents: int):
    async def seen() -> list[tuple[str, str]]:
        replay = quick_replay()
        async with replay.open():
            played = stops(replay, RUNS[:3], Setting.LIVES, name="t", life=life, after=1)
            found = [(stop.session.scope.agent, stop.session.scope.run) async for stop in played]
            assert len(replay.pipeline.memories._hot) == agents
            return found

    found = asyncio.run(seen())
    assert {run for _, run in found} == {"r1", "r2"}


def test_what_the_agent_still_sees_is_not_needed_and_a_run_without_a_miss_is_a_success():
    score = compared(view=10)["nothing", 256]
    assert score.needed < compared()["nothing", 256].needed
    told = score.summary()
    assert told["interventions"] == sum(score.asked.values()) / len(RUNS)
    assert told["success"] == round(sum(count == 0 for count in score.asked.values()) / len(RUNS), 4)


def test_woven_runs_keep_every_event_and_the_order_within_each_run():
    whole = woven(RUNS, labelled=True, seed=3)
    for number, run in enumerate(RUNS):
        mine = [event for event, space in zip(whole.events, whole.spaces, strict=True) if space == f"r{number}"]
        assert mine == list(run.events)
    assert len(whole.events) == sum(len(run.events) for run in RUNS)


def test_blocks_end_after_a_result():
    whole = woven(RUNS, labelled=True, seed=3)
    for event, space, after in zip(whole.events, whole.spaces, whole.spaces[1:], strict=False):
        assert space == after or event["type"] == "result"


def test_woven_runs_without_labels_carry_none():
    messages = [said.message for said in woven(RUNS, labelled=False).messages()]
    assert not any("space" in message for message in messages)
    labelled = [said.message for said in woven(RUNS, labelled=True).messages() if said.channel == "event"]
    assert Counter("space" in message for message in labelled) == {True: len(labelled)}


@pytest.mark.parametrize("together", [1, 3, 10])
def test_weaving_leaves_no_run_out(together: int):
    weaves = weave(RUNS, together=together, labelled=False)
    assert sum(len(whole.events) for whole in weaves) == sum(len(run.events) for run in RUNS)
    assert len(weaves) == -(-len(RUNS) // together)
