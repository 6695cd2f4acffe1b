"""Another trigger model comes in while the daemon runs: no packet is lost, and none sees half of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import orjson
import pytest

from beforehand.backends.models import MANIFEST
from beforehand.backends.registry import PROMOTED, Registry
from beforehand.training.fitting import write_line
from beforehand.trigger.features import NAMES
from memory_daemon import RUN, World, playing

LOUD = {"scores": [0.0, 1.0], "probabilities": [0.9, 0.9]}
SETTINGS = {"look_every_s": 0.05}


def trained(folder: Path, name: str, table=LOUD) -> str:
    """A model that finds everything equally likely; its name ends with a slash, as a folder's does."""
    about = {"name": name, "version": "1", "calibration": table, "data": "none", "seed": 1, "metrics": {}}
    write_line(folder / name, np.zeros(len(NAMES), np.float32), 0.0, about)
    return f"{folder / name}/"


def models_said(packet) -> set[str]:
    return {why["name"] for item in packet["items"] for why in item["why"] if why["trigger"] == "model"}


def order(world: World) -> None:
    world.say("event", kind="observation", tool="get_order", role="tool", data={"order_id": "W77", "card": "c_9"})


def begin(world: World, number: int) -> None:
    fields = {"goal": "refund", "tool": "refund_order", "needs": ["order_id", "card"]}
    world.say("step", step=f"s{number}", phase="begin", **fields)


async def until_live(world: World, name: str) -> None:
    async with asyncio.timeout(20):
        while world.pipeline.foresight._model.card.name != name:
            await asyncio.sleep(0.01)


def test_a_promoted_model_decides_from_some_step_on_and_every_step_has_its_packet(tmp_path):
    registry = Registry(tmp_path / "models")

    async def play(world):
        order(world)
        said = []
        for number in range(30):
            if number == 10:
                registry.promote(trained(tmp_path, "other"))
            if number == 20:
                await until_live(world, "other")
            begin(world, number)
            said.append(models_said(await world.hears(f"packet/s{number}", final=True)))
        assert all(len(names) == 1 for names in said), "a packet of two models, or of none"
        assert said[0] == {"default"}
        assert said[-10:] == [{"other"}] * 10

    playing(play, models={"folder": tmp_path / "models", **SETTINGS})


def test_rolling_back_brings_the_model_before_back_into_the_running_daemon(tmp_path):
    registry = Registry(tmp_path / "models")

    async def play(world):
        registry.promote(trained(tmp_path, "other"))
        await until_live(world, "other")
        assert registry.rollback() == "default"
        await until_live(world, "default")

    playing(play, models={"folder": tmp_path / "models", **SETTINGS})


@pytest.mark.parametrize("broken", ["manifest", "promoted"])
def test_a_model_that_is_broken_changes_nothing_and_is_counted(tmp_path, broken):
    registry = Registry(tmp_path / "models")

    async def play(world):
        kept = registry.promote(trained(tmp_path, "other"))
        await until_live(world, "other")
        registry.promote(trained(tmp_path, "third"))
        await until_live(world, "third")
        if broken == "manifest":
            (tmp_path / "models" / kept / MANIFEST).write_bytes(b"{")
            state = {"live": kept, "before": [], "shadow": None}
            (tmp_path / "models" / PROMOTED).write_bytes(orjson.dumps(state))
        else:
            (tmp_path / "models" / PROMOTED).write_bytes(b'{"live": ')
        async with asyncio.timeout(20):
            while not world.measures.value("beforehand_failures_total", part="model"):
                await asyncio.sleep(0.01)
        order(world)
        begin(world, 1)
        packet = await world.hears("packet/s1", final=True)
        assert models_said(packet) == {"third"}
        assert packet["status"] == "ready"

    playing(play, models={"folder": tmp_path / "models", **SETTINGS})


def test_what_was_prepared_by_the_model_before_is_decided_anew(tmp_path):
    registry = Registry(tmp_path / "models")

    async def play(world):
        order(world)
        step = {"id": "s1", "goal": "refund", "tool": "refund_order", "needs": ["order_id", "card"]}
        world.say("plan", steps=[step])
        assert models_said(await world.hears("packet/s1", final=False)) == {"default"}
        registry.promote(trained(tmp_path, "other"))
        await until_live(world, "other")
        world.say("step", step="s1", phase="begin")
        assert models_said(await world.hears("packet/s1", final=True)) == {"other"}

    playing(play, models={"folder": tmp_path / "models", **SETTINGS})


def test_a_model_in_the_shadow_is_journalled_and_never_published(tmp_path):
    registry = Registry(tmp_path / "models")
    silent = {"scores": [0.0, 1.0], "probabilities": [0.0, 0.0]}
    registry.promote(trained(tmp_path, "mute", silent), shadow=True)

    async def play(world):
        order(world)
        begin(world, 1)
        packet = await world.hears("packet/s1", final=True)
        assert models_said(packet) == {"default"}
        await world.pipeline.packets.record()
        [record] = await world.journal.packets(RUN)
        shadow = record.decision["shadow"]
        assert (shadow["model"], shadow["version"], shadow["problem"]) == ("mute", "1", None)
        assert {one["model"] for one in shadow["said"]} == {0.0}, "what rules ask for, it would say too"
        assert shadow["said_too"] == shadow["would_say"] == len(packet["items"]) == 2

    playing(play, models={"folder": tmp_path / "models", **SETTINGS})


def test_a_fault_of_the_model_in_the_shadow_costs_no_packet(tmp_path):
    registry = Registry(tmp_path / "models")
    registry.promote(trained(tmp_path, "other"), shadow=True)

    async def play(world):
        world.pipeline.foresight._shadow._weights = None
        order(world)
        begin(world, 1)
        packet = await world.hears("packet/s1", final=True)
        assert (packet["status"], models_said(packet)) == ("ready", {"default"})
        await world.pipeline.packets.record()
        [record] = await world.journal.packets(RUN)
        assert "matmul" in record.decision["shadow"]["problem"]

    playing(play, models={"folder": tmp_path / "models", **SETTINGS})
