"""Trigger models on disk (case I6: another order of features, NaN, missing, cut off)."""

from pathlib import Path

import numpy as np
import orjson
import pytest
import xgboost

from beforehand import shipped
from beforehand.backends.models import load
from beforehand.errors import ModelRefused
from beforehand.training.fitting import write_line, write_trees
from beforehand.trigger.features import DEFINITION, NAMES

TABLE = {"scores": [-4.0, 0.0, 4.0], "probabilities": [0.0, 0.25, 1.0]}
ABOUT = {"name": "small", "version": "1", "calibration": TABLE, "data": "none", "seed": 1, "metrics": {}}


def trees(folder: Path) -> Path:
    rows = np.random.default_rng(1).random((200, len(NAMES)), dtype=np.float32)
    data = xgboost.DMatrix(rows, label=rows[:, 0] > 0.5, nthread=1)
    write_trees(folder, xgboost.train({"max_depth": 2, "nthread": 1, "objective": "binary:logistic"}, data, 5), ABOUT)
    return folder


def line(folder: Path) -> Path:
    write_line(folder, np.linspace(-1, 1, len(NAMES), dtype=np.float32), 0.0, ABOUT)
    return folder


def changed(folder: Path, **fields: object) -> None:
    file = folder / "manifest.json"
    file.write_bytes(orjson.dumps({**orjson.loads(file.read_bytes()), **fields}))


@pytest.mark.parametrize("make", [trees, line])
def test_what_is_written_is_read_again_and_scores_between_0_and_1(tmp_path: Path, make) -> None:
    model = load(make(tmp_path), NAMES, DEFINITION)
    scores = model.score(np.random.default_rng(2).random((50, len(NAMES)), dtype=np.float32))
    assert scores.shape == (50,)
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert len(np.unique(scores)) > 1


@pytest.mark.parametrize("make", [trees, line])
def test_no_candidates_have_no_scores(tmp_path: Path, make) -> None:
    assert load(make(tmp_path), NAMES, DEFINITION).score(np.zeros((0, len(NAMES)), np.float32)).shape == (0,)


@pytest.mark.parametrize("make", [trees, line])
def test_features_in_another_order_are_refused_naming_the_first_that_differs(tmp_path: Path, make) -> None:
    make(tmp_path)
    changed(tmp_path, features=[NAMES[1], NAMES[0], *NAMES[2:]])
    with pytest.raises(ModelRefused, match=f"column 0 is '{NAMES[1]}', here '{NAMES[0]}'"):
        load(tmp_path, NAMES, DEFINITION)


def test_a_model_for_another_definition_of_the_same_features_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match="feature definition"):
        load(trees(tmp_path), NAMES, "another")


def test_a_missing_model_is_refused_with_the_place_that_was_looked_at(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match="nowhere"):
        load(tmp_path / "nowhere", NAMES, DEFINITION)


def test_missing_trees_are_refused(tmp_path: Path) -> None:
    (trees(tmp_path) / "model.ubj").unlink()
    with pytest.raises(ModelRefused, match="no trees at"):
        load(tmp_path, NAMES, DEFINITION)


@pytest.mark.parametrize("file", ["model.ubj", "manifest.json"])
def test_a_file_cut_to_half_is_refused_by_name(tmp_path: Path, file: str) -> None:
    trees(tmp_path)
    whole = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelRefused, match=file.replace(".", r"\.")):
        load(tmp_path, NAMES, DEFINITION)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    line(tmp_path)
    changed(tmp_path, weights=[None, *[0.0] * (len(NAMES) - 1)])
    with pytest.raises(ModelRefused, match="finite weights"):
        load(tmp_path, NAMES, DEFINITION)


def test_trees_with_a_leaf_that_is_no_number_are_refused(tmp_path: Path) -> None:
    booster = xgboost.Booster()
    booster.load_model(trees(tmp_path) / "model.ubj")
    told = orjson.loads(bytes(booster.save_raw("json")))
    weights = told["learner"]["gradient_booster"]["model"]["trees"][0]["base_weights"]
    conditions = told["learner"]["gradient_booster"]["model"]["trees"][0]["split_conditions"]
    leaf = told["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"].index(-1)
    text = orjson.dumps(told).decode()
    assert len(weights) == len(conditions)
    conditions[leaf] = 123456.5
    text = orjson.dumps(told).decode().replace("123456.5", "NaN")
    broken = xgboost.Booster()
    broken.load_model(bytearray(text.encode()))
    write_trees(tmp_path, broken, ABOUT)
    with pytest.raises(ModelRefused, match="NaN"):
        load(tmp_path, NAMES, DEFINITION)


@pytest.mark.parametrize(
    "table",
    [
        {"scores": [], "probabilities": []},
        {"scores": [1.0, 0.0], "probabilities": [0.1, 0.2]},
        {"scores": [0.0, 1.0], "probabilities": [0.2, 0.1]},
        {"scores": [0.0, 1.0], "probabilities": [0.2, 1.1]},
        {"scores": [0.0], "probabilities": [0.1, 0.2]},
    ],
)
def test_a_calibration_that_is_none_is_refused(tmp_path: Path, table: dict[str, list[float]]) -> None:
    trees(tmp_path)
    changed(tmp_path, calibration=table)
    with pytest.raises(ModelRefused, match="calibration"):
        load(tmp_path, NAMES, DEFINITION)


def test_a_kind_that_is_not_known_is_refused(tmp_path: Path) -> None:
    trees(tmp_path)
    changed(tmp_path, kind="pickle")
    with pytest.raises(ModelRefused, match="pickle"):
        load(tmp_path, NAMES, DEFINITION)


@pytest.mark.parametrize("make", [trees, line])
def test_a_matrix_of_another_width_is_refused(tmp_path: Path, make) -> None:
    with pytest.raises(ModelRefused, match="matrix"):
        load(make(tmp_path), NAMES, DEFINITION).score(np.zeros((3, 2), np.float32))


def test_the_shipped_model_fits_this_version() -> None:
    model = load(shipped.folder("models") / "trigger" / "default", NAMES, DEFINITION)
    assert model.card.features == NAMES
