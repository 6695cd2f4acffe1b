"""Which trigger models are in use: what the settings and the registry name, as far as it can be read."""

from __future__ import annotations

import structlog

from beforehand.backends import models
from beforehand.backends.registry import SHIPPED, Registry
from beforehand.errors import ModelRefused, NotFound, SettingsError
from beforehand.pipeline.shadow import Models
from beforehand.ports import Model
from beforehand.settings import NO_MODEL, Settings
from beforehand.trigger import features

_log = structlog.get_logger()


def models_in_use(settings: Settings) -> Models:
    """The model that decides and the one in its shadow. One that is refused is missing, with a warning.

    Raises SettingsError when the settings name a model that there is not.
    """
    live = trigger_model(settings)
    refused = live is None and settings.policy.model != NO_MODEL
    return Models(live, _shadow(settings), ("trigger model",) if refused else ())


def trigger_model(settings: Settings) -> Model | None:
    """The model that the settings and the registry name; None for "none", or with a warning when it is refused.

    Raises SettingsError when the settings name a model that there is not.
    """
    name = settings.policy.model
    if name == NO_MODEL:
        return None
    registry = Registry(settings.models.folder)
    try:
        promoted = registry.promoted().live if name == SHIPPED else None
        return models.load(registry.find(promoted or name).folder, features.NAMES, features.DEFINITION)
    except ModelRefused as refusal:
        _log.warning("the trigger model is not used", reason=str(refusal))
        return None
    except NotFound as missing:
        raise SettingsError(f"setting policy.model: {missing.problem}", missing.advice) from None


def _shadow(settings: Settings) -> Model | None:
    registry = Registry(settings.models.folder)
    try:
        name = registry.promoted().shadow
        return None if name is None else models.load(registry.find(name).folder, features.NAMES, features.DEFINITION)
    except (ModelRefused, NotFound) as refusal:
        _log.warning("the model in the shadow is not used", reason=str(refusal))
        return None
