"""Experiments on disk: definitions (TOML), and the register of what was started and stopped (`running.json`).

A definition is frozen into the register when it is started, so that editing its file changes no live experiment.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from beforehand import limits
from beforehand.backends.locks import held
from beforehand.errors import ExperimentError, NotFound
from beforehand.experiment.definition import Experiment, Started
from beforehand.messages import shape
from beforehand.messages.values import Misfit
from beforehand.settings import PolicySettings

REGISTER: Final = "running.json"
_ENTRIES: Final = TypeAdapter(list[Started])


def find(name: str, folder: Path) -> Path:
    """The file of an experiment, by path or by its name in the folder. Raises NotFound."""
    for file in (Path(name), folder / f"{name}.toml"):
        if file.suffix == ".toml" and file.is_file():
            return file
    known = ", ".join(sorted(file.stem for file in folder.glob("*.toml"))) or "none"
    raise NotFound(f"there is no experiment {name!r}.", f"In {folder} there are: {known}; or give the path of a .toml.")


def read(file: Path, base: PolicySettings) -> Experiment:
    """A definition, checked against the daemon's policy `base`. Raises ExperimentError naming the key."""
    with file.open("rb") as opened:
        content = opened.read(limits.EXPERIMENT_BYTES + 1)
    if len(content) > limits.EXPERIMENT_BYTES:
        raise ExperimentError(f"{file}: more than {limits.EXPERIMENT_BYTES:,} bytes.", "Name a file that is shorter.")
    try:
        fields = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExperimentError(f"{file}: {error}.", "Write it as TOML, see docs/guides/experiments.md.") from None
    try:
        experiment = Experiment.model_validate(fields)
    except ValidationError as error:
        raise _refused(error, Experiment, f"{file}: ") from None
    for arm in experiment.arms:
        policy_with(base, arm.overrides, f"{file}: arm {arm.name!r}: policy.")
    return experiment


def policy_with(base: PolicySettings, overrides: dict[str, Any], where: str = "policy.") -> PolicySettings:
    """The policy of an arm. Raises ExperimentError naming the setting after `where`."""
    try:
        return PolicySettings.model_validate({**base.model_dump(), **overrides})
    except ValidationError as error:
        raise _refused(error, PolicySettings, where) from None


def _refused(error: ValidationError, model: type[BaseModel], where: str) -> ExperimentError:
    """The first thing that is wrong, with what would be right."""
    first = error.errors(include_url=False)[0]
    name, form = shape.find(model, first["loc"])
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, Misfit):
        named = ".".join(part for part in (name, cause.field) if part)
        advice = f"{cause.advice[0].upper()}{cause.advice[1:]}."
        return ExperimentError(f"{where}{named}: {cause.problem}." if named else f"{where}{cause.problem}.", advice)
    written = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        near = get_close_matches(str(first["loc"][-1]), _keys(model), n=1)
        advice = f"Did you mean {near[0]}?" if near else "See docs/guides/experiments.md."
        return ExperimentError(f"{where}{written}: no such key.", advice)
    advice = "" if form is None else f"Give {shape.words(form, shape.schema(model))}."
    return ExperimentError(f"{where}{written}: {first['msg'].lower()}.", advice)


def _keys(model: type[BaseModel]) -> list[str]:
    """Every key of the model and of the tables in it."""
    whole = shape.schema(model)
    return [key for form in (whole, *whole.get("$defs", {}).values()) for key in form.get("properties", {})]


class Register:
    """What was started in a folder. The daemon reads it; `beforehand experiment start` and `stop` write it."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / REGISTER

    def stamp(self) -> tuple[int, int] | None:
        """Changes whenever the register does; None where there is none."""
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size

    def read(self) -> list[Started]:
        """All that was ever started, in that order. Raises ExperimentError when the file is not readable as one."""
        try:
            return _ENTRIES.validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return []
        except ValidationError as error:
            first = error.errors(include_url=False)[0]["msg"]
            raise ExperimentError(f"{self._file} is no register ({first}).", "Restore it, or remove it.") from None

    def start(self, experiment: Experiment, at: datetime) -> None:
        """Take in runs from now on. Raises ExperimentError when it would meddle with another, or is known already."""
        with self._held():
            entries = self.read()
            for entry in entries:
                _check_beside(experiment, entry)
            self._write([*entries, Started(experiment=experiment, started_at=at)])

    def stop(self, name: str, at: datetime) -> Started:
        """Take in no more runs. Raises NotFound when no such experiment is running."""
        with self._held():
            entries = self.read()
            running = [entry.experiment.name for entry in entries if entry.stopped_at is None]
            if name not in running:
                known = ", ".join(running) or "none"
                raise NotFound(f"no experiment {name!r} is running.", f"Running are: {known}.")
            done = [
                entry.stopped(at) if entry.experiment.name == name and entry.stopped_at is None else entry
                for entry in entries
            ]
            self._write(done)
            return next(entry for entry in done if entry.experiment.name == name)

    def of(self, name: str) -> Started:
        """The experiment of that name. Raises NotFound."""
        entries = self.read()
        for entry in entries:
            if entry.experiment.name == name:
                return entry
        known = ", ".join(entry.experiment.name for entry in entries) or "none"
        raise NotFound(f"no experiment {name!r} was started.", f"In {self._file} there are: {known}.")

    def _write(self, entries: list[Started]) -> None:
        beside = self._file.with_suffix(".new")
        with beside.open("wb") as file:
            file.write(_ENTRIES.dump_json(entries, indent=2) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._file)

    @contextmanager
    def _held(self) -> Iterator[None]:
        self._file.parent.mkdir(parents=True, exist_ok=True)

        def taken(holder: str) -> ExperimentError:
            return ExperimentError(f"process {holder} is changing {self._file}.", "Try again.")

        with held(self._file.with_suffix(".lock"), taken):
            yield


def _check_beside(new: Experiment, entry: Started) -> None:
    known = entry.experiment
    if known.name == new.name:
        raise ExperimentError(
            f"an experiment {new.name!r} was started on {entry.started_at:%Y-%m-%d} already.",
            "Its runs are in the journal: give the new one another name.",
        )
    if entry.stopped_at is not None:
        return
    if known.layer == new.layer:
        if max(known.slot[0], new.slot[0]) < min(known.slot[1], new.slot[1]):
            raise ExperimentError(
                f"experiment {known.name!r} has slot {known.slot} of layer {known.layer!r}, which meets {new.slot}.",
                "Give this one another part of the layer (slot), or another layer.",
            )
        return
    both = sorted(known.changed & new.changed)
    if both:
        raise ExperimentError(
            f"experiment {known.name!r} of layer {known.layer!r} changes {', '.join(both)} too.",
            f"Put both into one layer, with slots that do not meet: layer = {known.layer!r}.",
        )
