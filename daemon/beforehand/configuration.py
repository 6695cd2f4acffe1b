"""How settings are read: a TOML file, then the environment, then flags; each overrides the one before."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json
from pydantic_settings import SettingsConfigDict
from pydantic_settings import SettingsError as PydanticSettingsError

from beforehand.errors import SettingsError
from beforehand.messages import shape
from beforehand.messages.values import Misfit
from beforehand.settings import ENVIRONMENT_PREFIX, Settings

DEFAULT_FILE = Path("beforehand.toml")


def load(file: Path | None = None, **flags: Any) -> Settings:
    """Settings from `file` (default: beforehand.toml here, when there is one), environment and flags.

    flags: sections as dictionaries, such as `broker={"host": "mqtt"}`. Raises SettingsError naming the setting.
    """
    if file is not None and not file.is_file():
        raise SettingsError(f"no settings file {file}.", "Name one that exists, or leave --config out.")
    chosen = file or (DEFAULT_FILE if DEFAULT_FILE.is_file() else None)

    class _FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=chosen)

    _check_environment()
    try:
        return Settings.model_construct(**_FromFile(**flags).__dict__)
    except ValidationError as error:
        raise _refused(error) from None
    except PydanticSettingsError:
        raise _not_json() from None
    except ValueError as error:
        raise SettingsError(f"settings file {chosen}: {error}.", "Write it as TOML, one table per section.") from None


def _check_environment() -> None:
    """pydantic ignores variables that it does not know. Raises SettingsError naming the nearest one."""
    known = _variables()
    for variable in sorted(os.environ):
        name = variable.upper()
        if name.startswith(ENVIRONMENT_PREFIX) and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.8)
            advice = f"Did you mean {near[0]}?" if near else "Such as BEFOREHAND_BROKER__HOST; unset it."
            raise SettingsError(f"environment variable {variable}: no such setting.", advice)


def _variables() -> dict[str, bool]:
    """Every environment variable that is read, and whether it holds JSON: a whole section, or a list."""
    known: dict[str, bool] = {}
    for section in Settings.model_fields:
        known[f"{ENVIRONMENT_PREFIX}{section}".upper()] = True
        for name, field in _model(section).model_fields.items():
            known[f"{ENVIRONMENT_PREFIX}{section}__{name}".upper()] = get_origin(field.annotation) is list
    return known


def _not_json() -> SettingsError:
    """For the variable that should hold JSON and does not."""
    known = _variables()
    for variable, written in sorted(os.environ.items()):
        if not known.get(variable.upper()):
            continue
        try:
            from_json(written)
        except ValueError:
            of_list = "__" in variable
            form = to_json([part.strip() for part in written.split(",")] if of_list else {"name": "value"}).decode()
            return SettingsError(
                f"environment variable {variable}: {written!r} is not JSON.", f"Write it as JSON, such as {form}."
            )
    return SettingsError("an environment variable is not JSON.", "Write lists as JSON.")


def _refused(error: ValidationError) -> SettingsError:
    """The first thing that is wrong, with what would be right."""
    first = error.errors(include_url=False)[0]
    place = first["loc"]
    if first["type"] == "extra_forbidden":
        section = ".".join(map(str, place[:-1]))
        near = get_close_matches(str(place[-1]), _model(section).model_fields, n=1)
        advice = f"Did you mean {near[0]}?" if near else "`beforehand config show` lists all settings."
        return SettingsError(f"setting {'.'.join(map(str, place))}: no such setting.", advice)
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, Misfit):
        name = ".".join(part for part in (*map(str, place), cause.field) if part)
        return SettingsError(f"setting {name}: {cause.problem}.", f"{cause.advice[0].upper()}{cause.advice[1:]}.")
    name, form = shape.find(Settings, place)
    advice = "" if form is None else f"Give {shape.words(form, shape.schema(Settings))}."
    return SettingsError(f"setting {name}: {first['msg']}.", advice)


def _model(section: str) -> type[BaseModel]:
    """The model of a section; of all sections for a name that is none."""
    whole = Settings.model_fields
    model = whole[section].annotation if section in whole else Settings
    return model if isinstance(model, type) and issubclass(model, BaseModel) else Settings
