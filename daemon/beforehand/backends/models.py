"""Trigger models on disk: a folder with `manifest.json`, refused by name when anything in it does not match.

Two kinds. `trees`: gradient-boosted trees in XGBoost's own binary form (`model.ubj`), never a pickle. `linear`:
logistic regression, all in the manifest. Both give a score that a table of the manifest turns into a probability
(isotonic regression, linear between its points).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
import orjson
import xgboost
from numpy.typing import NDArray

from beforehand.errors import ModelRefused
from beforehand.ports import Model, ModelCard

Floats = NDArray[np.float32]
MANIFEST: Final = "manifest.json"
TREES: Final = "model.ubj"
_ADVICE: Final = "Train it again (`beforehand train`), or choose another; the daemon goes on with rules."


class LinearModel:
    """The sigmoid of a weighted sum, calibrated."""

    def __init__(self, card: ModelCard, weights: Floats, intercept: float, table: Calibration) -> None:
        self._card = card
        self._weights = weights
        self._intercept = np.float32(intercept)
        self._table = table

    @property
    def card(self) -> ModelCard:
        """See ports.Model."""
        return self._card

    def score(self, features: Floats) -> Floats:
        """See ports.Model."""
        _same_width(features, self._card)
        return self._table.probability(features @ self._weights + self._intercept)


class TreeModel:
    """Gradient-boosted trees, calibrated."""

    def __init__(self, card: ModelCard, booster: xgboost.Booster, table: Calibration) -> None:
        self._card = card
        self._booster = booster
        self._table = table

    @property
    def card(self) -> ModelCard:
        """See ports.Model."""
        return self._card

    def score(self, features: Floats) -> Floats:
        """See ports.Model. One prediction in place, on one thread."""
        _same_width(features, self._card)
        if not len(features):
            return np.zeros(0, np.float32)
        margins = self._booster.inplace_predict(features, predict_type="margin", validate_features=False)
        return self._table.probability(margins)


class Calibration:
    """Scores to probabilities by a table of ascending scores; between two points on the straight line."""

    def __init__(self, scores: list[float], probabilities: list[float]) -> None:
        self._scores = np.array(scores, np.float64)
        self._probabilities = np.array(probabilities, np.float64)
        sound = (
            len(self._scores) == len(self._probabilities) > 0
            and bool(np.isfinite(self._scores).all())
            and bool((np.diff(self._scores) > 0).all())
            and bool(((self._probabilities >= 0) & (self._probabilities <= 1)).all())
            and bool((np.diff(self._probabilities) >= 0).all())
        )
        if not sound:
            raise ValueError("a calibration has ascending scores and as many probabilities, which do not descend")

    def probability(self, scores: NDArray[Any]) -> Floats:
        """The probability of each score."""
        return np.asarray(np.interp(scores, self._scores, self._probabilities), np.float32)


def load(folder: Path, features: tuple[str, ...], definition: str) -> Model:
    """The model in `folder`, for these features in this order.

    definition: `trigger.features.DEFINITION`. Raises ModelRefused naming the file and the mismatch.
    """
    file = folder / MANIFEST
    try:
        manifest = orjson.loads(file.read_bytes())
        card = ModelCard(manifest["name"], manifest["version"], tuple(manifest["features"]), _detail(manifest))
        table = Calibration(manifest["calibration"]["scores"], manifest["calibration"]["probabilities"])
        kind = manifest["kind"]
    except FileNotFoundError:
        raise ModelRefused(f"no trigger model at {file}.", _ADVICE) from None
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, OSError) as error:
        raise ModelRefused(f"{file} is not a model's manifest ({error!r}).", _ADVICE) from None
    _same_features(file, card, features, str(manifest.get("definition")), definition)
    if kind == "trees":
        return TreeModel(card, _booster(folder / TREES, manifest), table)
    if kind == "linear":
        return _linear(file, card, manifest, table)
    raise ModelRefused(f"{file} is a model of kind {kind!r}; known are trees and linear.", _ADVICE)


def _detail(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: manifest.get(name) for name in ("kind", "definition", "data", "seed", "metrics")}


def _same_features(file: Path, card: ModelCard, features: tuple[str, ...], trained: str, definition: str) -> None:
    if card.features != features:
        pairs = enumerate(zip(card.features, features, strict=False))
        wrong = next(
            (f"column {n} is {a!r}, here {b!r}" for n, (a, b) in pairs if a != b),
            f"{len(card.features)} columns, here {len(features)}",
        )
        raise ModelRefused(f"{file}: its features are not those of this version ({wrong}).", _ADVICE)
    if trained != definition:
        raise ModelRefused(f"{file}: trained for feature definition {trained}, here {definition}.", _ADVICE)


def _linear(file: Path, card: ModelCard, manifest: Mapping[str, Any], table: Calibration) -> LinearModel:
    try:
        weights = np.array(manifest["weights"], np.float32)
        intercept = float(manifest["intercept"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelRefused(f"{file}: weights and intercept cannot be read ({error!r}).", _ADVICE) from None
    if weights.shape != (len(card.features),) or not np.isfinite([*weights, intercept]).all():
        raise ModelRefused(f"{file}: {len(card.features)} finite weights and an intercept are needed.", _ADVICE)
    return LinearModel(card, weights, intercept, table)


def _booster(file: Path, manifest: Mapping[str, Any]) -> xgboost.Booster:
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise ModelRefused(f"no trees at {file} ({error.strerror}).", _ADVICE) from None
    if hashlib.sha256(raw).hexdigest() != manifest.get("sha256"):
        raise ModelRefused(f"{file} is not the file that its manifest names (cut off or changed).", _ADVICE)
    booster = xgboost.Booster({"nthread": 1})
    try:
        booster.load_model(bytearray(raw))
        json.loads(bytes(booster.save_raw("json")), parse_constant=_not_finite)
        width = booster.num_features()
    except (xgboost.core.XGBoostError, ValueError) as error:
        raise ModelRefused(f"{file}: its trees cannot be used ({str(error).splitlines()[0][:200]}).", _ADVICE) from None
    if width != len(manifest["features"]):
        raise ModelRefused(f"{file}: {width} features, its manifest names {len(manifest['features'])}.", _ADVICE)
    return booster


def _not_finite(name: str) -> NoReturn:
    raise ValueError(f"a number of it is {name}")


def _same_width(features: Floats, card: ModelCard) -> None:
    if features.ndim != 2 or features.shape[1] != len(card.features):
        raise ModelRefused(
            f"a matrix of shape {features.shape} for a model of {len(card.features)} features.",
            "Build it with trigger.features.matrix.",
        )
