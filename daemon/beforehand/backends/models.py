"""Trigger models on disk: a folder with `manifest.json`, refused by name when anything in it does not match."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from beforehand.errors import ModelRefused
from beforehand.ports import ModelCard


class LinearModel:
    """Logistic regression: the sigmoid of a weighted sum. Weights stand in the manifest, one per feature, in order."""

    def __init__(self, card: ModelCard, weights: NDArray[np.float32], intercept: float) -> None:
        self._card = card
        self._weights = weights
        self._intercept = np.float32(intercept)

    @classmethod
    def load(cls, folder: Path, features: tuple[str, ...]) -> LinearModel:
        """The model in `folder`, for these features in this order. Raises ModelRefused naming the mismatch."""
        file = folder / "manifest.json"
        advice = "Train it again, or remove it from the settings; the daemon goes on with rules."
        try:
            manifest = orjson.loads(file.read_bytes())
            named = tuple(manifest["features"])
            weights = np.array(manifest["weights"], dtype=np.float32)
            intercept = float(manifest["intercept"])
            card = ModelCard(manifest["name"], manifest["version"], named, manifest.get("detail", {}))
        except FileNotFoundError:
            raise ModelRefused(f"no trigger model at {file}.", advice) from None
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, OSError) as error:
            raise ModelRefused(f"{file} is not a model's manifest ({error}).", advice) from None
        if named != features:
            raise ModelRefused(f"{file} has the features {named}, this version computes {features}.", advice)
        if weights.shape != (len(features),) or not np.isfinite([*weights, intercept]).all():
            raise ModelRefused(f"{file}: {len(features)} finite weights and an intercept are needed.", advice)
        return cls(card, weights, intercept)

    @property
    def card(self) -> ModelCard:
        """See ports.Model."""
        return self._card

    def score(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """See ports.Model."""
        if features.ndim != 2 or features.shape[1] != len(self._card.features):
            raise ModelRefused(
                f"a matrix of shape {features.shape} for a model of {len(self._card.features)} features.",
                "Build it with trigger.features.matrix.",
            )
        scores: NDArray[np.float32] = 1.0 / (1.0 + np.exp(-(features @ self._weights + self._intercept)))
        return scores.astype(np.float32)
