"""What a model is taught from: the features that serving sees, and labels that do not leak."""

import asyncio
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from beforehand.memory.steps import Step
from beforehand.messages.topics import Scope
from beforehand.pipeline.foresight import Foresight
from beforehand.training.collecting import Rows, Setting, carrying, collect
from beforehand.training.fitting import Recipe, fit_trees, margins
from beforehand.training.following import follow
from beforehand.training.making import Lesson, Source, make, strangers_to, study
from beforehand.training.playing import play
from beforehand.training.ranking import auc, recall_at
from beforehand.trigger.features import FEATURES
from recorded import quick_replay, recorded


@cache
def collected(name: str, setting: Setting = Setting.SINGLE, strangers: tuple[Step, ...] = ()) -> Rows:
    return afresh(name, setting, strangers)


def afresh(name: str, setting: Setting = Setting.SINGLE, strangers: tuple[Step, ...] = ()) -> Rows:
    async def all_rows() -> Rows:
        replay = quick_replay()
        async with replay.open():
            return await collect(replay, recorded(name), setting, name=name, strangers=strangers)

    return asyncio.run(all_rows())


def test_features_are_finite_and_stay_in_their_stated_ranges():
    rows = collected("tau_retail")
    assert np.isfinite(rows.features).all()
    for column, feature in enumerate(FEATURES):
        values = rows.features[:, column]
        assert values.min() >= feature.low, feature.name
        assert values.max() <= feature.high, feature.name


@pytest.mark.parametrize("setting", list(Setting))
def test_the_same_runs_give_the_same_rows_bit_for_bit(setting: Setting):
    one, other = collected("bfcl", setting), afresh("bfcl", setting)
    assert one.features.tobytes() == other.features.tobytes()
    assert one.labels.tolist() == other.labels.tolist()
    assert one.steps.tolist() == other.steps.tolist()


def test_features_of_serving_equal_features_of_training_bit_for_bit(monkeypatch):
    """Both run over the same recorded runs: one publishes packets for every message, the other only looks."""
    served: dict[tuple[str, str], bytes] = {}
    consider = Foresight.consider

    def seen(self, memory, session, step, now_us):
        matter = consider(self, memory, session, step, now_us)
        served[session.scope.run, step.id] = matter.features.tobytes()
        return matter

    async def both() -> int:
        compared = 0
        for number, run in enumerate(recorded("tau_retail")[:4]):
            scope = Scope("t", f"a{number}", run.id)
            serving, training = quick_replay(model="default"), quick_replay()
            monkeypatch.setattr(Foresight, "consider", seen)
            async with serving.open():
                published = {
                    played.call.step: served[scope.run, played.call.step] async for played in play(serving, run, scope)
                }
            monkeypatch.setattr(Foresight, "consider", consider)
            async with training.open():
                async for stop in follow(training, run, scope):
                    matter = training.pipeline.foresight.consider(stop.memory, stop.session, stop.step, stop.now_us)
                    assert matter.features.tobytes() == published[stop.step.id]
                    compared += 1
        return compared

    assert asyncio.run(both()) > 20


def test_a_leaf_is_labelled_by_what_it_says_not_by_the_name_of_its_record():
    async def labels() -> dict[str, int]:
        replay = quick_replay()
        async with replay.open():
            scope = Scope("t", "a", "r")
            record = '{"order_id": "#W42", "zip": "19117", "name": "Ann"}'
            await replay.feed(scope, "event", {"kind": "observation", "role": "tool", "tool": "look", "text": record})
            await replay.feed(scope, "step", {"step": "s", "phase": "begin", "tool": "cancel", "needs": ["order_id"]})
            memory = await replay.pipeline.memories.of(scope)
            session = memory.session("r")
            matter = replay.pipeline.foresight.consider(memory, session, session.itinerary.steps["s"], 10**15)
            counts = carrying(matter.candidates, frozenset({"ann"})).tolist()
            return {matter.candidates.passage(index).text: count for index, count in enumerate(counts)}

    assert asyncio.run(labels()) == {"order_id: #W42 (name: Ann)": 0, "zip: 19117 (name: Ann)": 0, "name: Ann": 1}


def test_strangers_need_nothing():
    stranger = Step("x", "tune violin", "tune_violin", ("string",))
    plain, visited = collected("bfcl"), afresh("bfcl", strangers=(stranger,))
    assert visited.steps.max() > plain.steps.max()
    assert (visited.labels > 0).sum() == (plain.labels > 0).sum()


def test_a_model_of_shuffled_labels_scores_at_chance_on_runs_that_it_has_not_seen():
    taught, unseen = collected("bfcl", Setting.LIVES), collected("tau_retail")
    shuffled = np.random.default_rng(1).permutation(taught.labels)
    honest = fit_trees(taught, Recipe(trees=30))
    fooled = fit_trees(Rows(taught.features, shuffled, taught.steps), Recipe(trees=30))
    positive = unseen.labels > 0
    assert auc(margins(honest, unseen.features), positive) > 0.75
    assert abs(auc(margins(fooled, unseen.features), positive) - 0.5) < 0.2


def lessons(keep: Path | None = None) -> list[Lesson]:
    sources = [Source(name, recorded(name), {Setting.SINGLE: 3, Setting.LIVES: 3}) for name in ("tau_retail", "bfcl")]

    async def all_lessons() -> list[Lesson]:
        return [
            await study(quick_replay, one, strangers=strangers_to(one, sources), seed=1, keep=keep, say=lambda _: None)
            for one in sources
        ]

    return asyncio.run(all_lessons())


def test_the_same_seed_makes_the_same_model(tmp_path):
    one, other = make(lessons(), Recipe(trees=10)), make(lessons(tmp_path), Recipe(trees=10))
    resumed = make(lessons(tmp_path), Recipe(trees=10))
    assert one.booster.save_raw() == other.booster.save_raw() == resumed.booster.save_raw()
    assert one.data == other.data == resumed.data
    assert one.table == resumed.table


def test_auc_is_the_chance_that_a_positive_scores_higher():
    assert auc(np.array([0.1, 0.2, 0.3, 0.4]), np.array([False, True, False, True])) == 0.75
    assert auc(np.array([1.0, 1.0]), np.array([True, False])) == 0.5
    assert auc(np.array([1.0]), np.array([True])) is None


def test_recall_at_counts_steps_with_a_carrier_among_the_first():
    rows = Rows(np.zeros((5, 1), np.float32), np.array([0, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 2]))
    assert recall_at(np.array([0.9, 0.1, 0.2, 0.8, 0.5]), rows, 1) == 0.5
    assert recall_at(np.array([0.9, 0.1, 0.2, 0.8, 0.5]), rows, 2) == 1.0
