"""From rows to a model on disk: trees or a line, calibrated; the same rows and seed give the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import xgboost
from numpy.typing import NDArray

from beforehand.backends.models import MANIFEST, TREES
from beforehand.training.collecting import Rows
from beforehand.trigger.features import DEFINITION, FEATURES, NAMES

Floats = NDArray[np.float32]
_POINTS: Final = 64
_NEWTON_ROUNDS: Final = 25


@dataclass(frozen=True, slots=True)
class Recipe:
    """How trees are fitted. Small on purpose: one step scores 128 candidates in a fraction of a millisecond."""

    trees: int = 100
    depth: int = 4
    rate: float = 0.15
    least_weight: float = 8.0
    keep_rows: float = 0.8
    keep_columns: float = 0.7
    seed: int = 1


def fit_trees(rows: Rows, recipe: Recipe, weights: Floats | None = None) -> xgboost.Booster:
    """Trees for the probability that a candidate carries a needed value; monotone where a feature has a direction."""
    data = xgboost.DMatrix(rows.features, label=rows.labels > 0, weight=weights, nthread=1)
    return xgboost.train(parameters(recipe), data, num_boost_round=recipe.trees)


def parameters(recipe: Recipe) -> dict[str, Any]:
    """The recipe in XGBoost's words."""
    return {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": recipe.depth,
        "eta": recipe.rate,
        "min_child_weight": recipe.least_weight,
        "subsample": recipe.keep_rows,
        "colsample_bytree": recipe.keep_columns,
        "monotone_constraints": tuple(feature.direction for feature in FEATURES),
        "seed": recipe.seed,
        "nthread": 1,
    }


def fit_line(rows: Rows, weights: Floats | None = None, ridge: float = 1.0) -> tuple[Floats, float]:
    """Weights and intercept of a logistic regression with an L2 penalty, by Newton's method (IRLS)."""
    x = np.column_stack((rows.features.astype(np.float64), np.ones(len(rows.labels))))
    y = (rows.labels > 0).astype(np.float64)
    each = np.ones(len(y)) if weights is None else weights.astype(np.float64)
    beta = np.zeros(x.shape[1])
    penalty = np.diag([ridge] * (x.shape[1] - 1) + [1e-6])
    for _ in range(_NEWTON_ROUNDS):
        p = 1 / (1 + np.exp(-x @ beta))
        step = np.linalg.solve(
            (x * (each * np.maximum(p * (1 - p), 1e-6))[:, None]).T @ x + penalty,
            x.T @ (each * (y - p)) - penalty @ beta,
        )
        beta += step
        if np.abs(step).max() < 1e-6:
            break
    return beta[:-1].astype(np.float32), float(beta[-1])


def isotonic(scores: NDArray[Any], labels: NDArray[Any], weights: Floats | None = None) -> dict[str, list[float]]:
    """A table of at most 64 points from scores to probabilities that never descends.

    Pool adjacent violators (Ayer et al. 1955) over equal shares of the scores; a point is the mean score of its pool.
    """
    order = np.argsort(scores, kind="stable")
    each = np.ones(len(scores)) if weights is None else weights.astype(np.float64)
    pools: list[list[float]] = []
    for part in np.array_split(order, min(len(order), 4 * _POINTS)):
        weight = float(each[part].sum())
        mean = float((scores[part] * each[part]).sum() / weight)
        pools.append([weight, float((labels[part] * each[part]).sum()), mean * weight])
        while len(pools) > 1 and pools[-2][1] * pools[-1][0] >= pools[-1][1] * pools[-2][0]:
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    points = [(total / weight, positive / weight) for weight, positive, total in pools]
    kept = [points[i] for i in np.unique(np.linspace(0, len(points) - 1, min(_POINTS, len(points))).astype(int))]
    ascending = [kept[0], *(b for a, b in pairwise(kept) if b[0] > a[0] + 1e-9)]
    return {
        "scores": [round(score, 6) for score, _ in ascending],
        "probabilities": [round(probability, 6) for _, probability in ascending],
    }


def margins(booster: xgboost.Booster, features: Floats) -> Floats:
    """The trees' scores before calibration."""
    return np.asarray(booster.inplace_predict(features, predict_type="margin", validate_features=False), np.float32)


def data_hash(rows: Rows) -> str:
    """Names the rows that a model was trained on."""
    digest = hashlib.sha256(np.ascontiguousarray(rows.features).tobytes())
    digest.update(np.ascontiguousarray(rows.labels).tobytes())
    return digest.hexdigest()


def write_trees(folder: Path, booster: xgboost.Booster, about: Mapping[str, Any]) -> None:
    """`model.ubj` and `manifest.json`. about: name, version, calibration, data, seed, metrics."""
    raw = bytes(booster.save_raw("ubj"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TREES).write_bytes(raw)
    _write_manifest(folder, {"kind": "trees", "sha256": hashlib.sha256(raw).hexdigest(), **about})


def write_line(folder: Path, weights: Floats, intercept: float, about: Mapping[str, Any]) -> None:
    """`manifest.json` of a linear model."""
    folder.mkdir(parents=True, exist_ok=True)
    line = {"weights": [round(float(weight), 6) for weight in weights], "intercept": round(intercept, 6)}
    _write_manifest(folder, {"kind": "linear", **line, **about})


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    told = {**manifest, "features": list(NAMES), "definition": DEFINITION}
    (folder / MANIFEST).write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
