"""Case I6: a model with features in another order, NaN, missing, or cut off: rules go on, packets say `degraded`."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest

from beforehand import shipped
from beforehand.backends.models import MANIFEST, TREES
from beforehand.backends.registry import Registry
from beforehand.errors import SettingsError
from stage import staged

REFUND = {"goal": "refund", "tool": "refund_order", "needs": ["order_id", "card"]}


def reordered(folder: Path) -> None:
    manifest = orjson.loads((folder / MANIFEST).read_bytes())
    first, second, *rest = manifest["features"]
    (folder / MANIFEST).write_bytes(orjson.dumps({**manifest, "features": [second, first, *rest]}))


def not_a_number(folder: Path) -> None:
    raw = (folder / MANIFEST).read_text(encoding="utf-8")
    (folder / MANIFEST).write_text(raw.replace('"scores": [', '"scores": [\n NaN,', 1), encoding="utf-8")


def missing(folder: Path) -> None:
    (folder / TREES).unlink()


def cut(folder: Path) -> None:
    whole = (folder / TREES).read_bytes()
    (folder / TREES).write_bytes(whole[: len(whole) // 2])


@pytest.fixture(params=[reordered, not_a_number, missing, cut])
def broken(request, tmp_path) -> Path:
    folder = tmp_path / "models" / "mine"
    shutil.copytree(shipped.folder("models") / "trigger" / "default", folder)
    request.param(folder)
    return folder


async def refund(stage):
    """An order was looked up, and a step needs its number and card."""
    await stage.event(kind="observation", tool="get_order", role="tool", data={"order_id": "W77", "card": "c_9"})
    return await stage.begin("s1", **REFUND)


def test_i6_rules_go_on_without_a_model_that_is_refused_and_every_packet_says_so(broken):
    async def play(stage):
        packet = await refund(stage)
        assert packet.status == "degraded"
        assert "trigger model" in packet.reason
        assert {why.trigger for item in packet.items for why in item.why} == {"rule"}
        assert "W77" in packet.rendered

    staged(play, policy={"model": str(broken)})


def test_i6_the_same_for_a_promoted_model_that_broke_on_disk(broken):
    registry = broken.parent
    (registry / "promoted.json").write_bytes(orjson.dumps({"live": "mine", "before": [None], "shadow": None}))

    async def play(stage):
        assert (await refund(stage)).status == "degraded"

    staged(play, models={"folder": registry})


def test_i6_a_broken_model_in_the_shadow_degrades_nothing(broken):
    registry = broken.parent
    (registry / "promoted.json").write_bytes(orjson.dumps({"live": None, "before": [], "shadow": "mine"}))

    async def play(stage):
        assert (await refund(stage)).status == "ready"

    staged(play, models={"folder": registry})


def test_i6_a_model_that_is_not_there_is_said_at_the_start(tmp_path):
    async def play(_):
        raise AssertionError("it must not start")

    with pytest.raises(SettingsError, match="no folder"):
        staged(play, policy={"model": f"{tmp_path}/nowhere"})


def test_i6_rules_alone_are_no_outage():
    async def play(stage):
        assert (await refund(stage)).status == "ready"

    staged(play, policy={"model": "none"})


def test_i6_the_promoted_model_decides_after_a_restart(tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(shipped.folder("models") / "trigger" / "default" / "linear", folder)
    Registry(tmp_path / "models").promote(f"{folder}/")

    async def play(stage):
        packet = await refund(stage)
        names = {why.name for item in packet.items for why in item.why if why.trigger == "model"}
        assert names == {"default-linear"}

    staged(play, models={"folder": tmp_path / "models"})
