"""The registry of trigger models: what is promoted is whole, and there is a way back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest

from beforehand.backends.registry import PROMOTED, Promoted, Registry
from beforehand.errors import ModelRefused, NotFound
from beforehand.training.fitting import write_line
from beforehand.trigger.features import NAMES

TABLE = {"scores": [0.0, 1.0], "probabilities": [0.2, 0.8]}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "models")


def trained(tmp_path: Path, name: str, version: str = "1") -> str:
    """The folder of a model, as a person types it."""
    about = {"name": name, "version": version, "calibration": TABLE, "data": "d", "seed": 1, "metrics": {}}
    folder = tmp_path / f"{name}{version}"
    write_line(folder, np.zeros(len(NAMES), np.float32), 0.0, about)
    (folder / "README.md").write_text(f"card of {name}", encoding="utf-8")
    return f"{folder}/"


def test_before_any_promotion_the_shipped_model_is_live(registry):
    assert registry.promoted() == Promoted()
    assert registry.stamp() is None
    assert [one.name for one in registry.known()] == ["default"]


def test_a_promoted_model_is_a_copy_with_its_card(registry, tmp_path):
    folder = trained(tmp_path, "shop")
    assert registry.promote(folder) == "shop-1"
    for file in Path(folder).iterdir():
        file.unlink()
    found = registry.find("shop-1")
    assert found.problem is None
    assert found.card == "card of shop"
    assert registry.promoted() == Promoted("shop-1", (None,))


def test_the_stamp_changes_with_every_promotion(registry, tmp_path):
    stamps = [registry.stamp()]
    for name in ("a", "b"):
        registry.promote(trained(tmp_path, name))
        stamps.append(registry.stamp())
    assert len(set(stamps)) == 3


def test_rolling_back_goes_the_way_that_promotions_came(registry, tmp_path):
    for name in ("a", "b"):
        registry.promote(trained(tmp_path, name))
    assert [registry.rollback(), registry.rollback()] == ["a-1", "default"]
    assert registry.promoted() == Promoted()
    with pytest.raises(NotFound, match="no model was live before"):
        registry.rollback()


def test_promoting_what_is_live_changes_nothing(registry, tmp_path):
    registry.promote(trained(tmp_path, "a"))
    before = registry.promoted()
    registry.promote("a-1")
    assert registry.promoted() == before
    assert Registry(tmp_path / "other").promote("default") == "default"
    assert Registry(tmp_path / "other").promoted() == Promoted()


def test_the_shipped_model_can_be_promoted_over_another(registry, tmp_path):
    registry.promote(trained(tmp_path, "a"))
    assert registry.promote("default") == "default"
    assert registry.promoted() == Promoted(None, (None, "a-1"))
    assert registry.rollback() == "a-1"


def test_the_shadow_comes_and_goes_without_touching_what_is_live(registry, tmp_path):
    registry.promote(trained(tmp_path, "a"))
    registry.promote(trained(tmp_path, "b"), shadow=True)
    assert registry.promoted() == Promoted("a-1", (None,), "b-1")
    assert registry.rollback(shadow=True) == "a-1"
    assert registry.promoted() == Promoted("a-1", (None,))


def test_i6_a_broken_model_is_not_promoted(registry, tmp_path):
    registry.promote(trained(tmp_path, "a"))
    folder = trained(tmp_path, "b")
    manifest = Path(folder) / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:100])
    with pytest.raises(ModelRefused, match=r"manifest\.json"):
        registry.promote(folder)
    assert registry.promoted().live == "a-1"


def test_i6_a_model_that_broke_since_is_not_rolled_back_to(registry, tmp_path):
    for name in ("a", "b"):
        registry.promote(trained(tmp_path, name))
    manifest = registry.find("a-1").folder / "manifest.json"
    manifest.write_bytes(orjson.dumps({**orjson.loads(manifest.read_bytes()), "features": ["x"]}))
    with pytest.raises(ModelRefused, match="its features are not those"):
        registry.rollback()
    assert registry.promoted().live == "b-1"


def test_a_copy_that_was_cut_off_is_made_again(registry, tmp_path):
    folder = trained(tmp_path, "a")
    registry.promote(folder)
    manifest = registry.find("a-1").folder / "manifest.json"
    manifest.write_bytes(b"{")
    registry.promote(folder)
    assert registry.find("a-1").problem is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"live": 3, "before": [], "shadow": null}', b'{"live": null}'])
def test_i6_a_state_that_cannot_be_read_is_refused_by_name_and_mended_by_a_promotion(registry, tmp_path, content):
    registry.promote(trained(tmp_path, "a"))
    (tmp_path / "models" / PROMOTED).write_bytes(content)
    with pytest.raises(ModelRefused, match=r"promoted\.json"):
        registry.promoted()
    registry.promote("a-1")
    assert registry.promoted().live == "a-1"


def test_an_unknown_name_is_answered_with_those_that_there_are(registry, tmp_path):
    registry.promote(trained(tmp_path, "a"))
    with pytest.raises(NotFound, match="There are a-1, default"):
        registry.find("b")
    with pytest.raises(NotFound, match="no folder"):
        registry.find("nowhere/")


def test_a_name_that_would_leave_the_folder_is_refused(registry, tmp_path):
    folder = Path(trained(tmp_path, "a"))
    manifest = folder / "manifest.json"
    manifest.write_bytes(orjson.dumps({**orjson.loads(manifest.read_bytes()), "name": "../../x"}))
    with pytest.raises(ModelRefused, match="cannot name a folder"):
        registry.promote(f"{folder}/")
