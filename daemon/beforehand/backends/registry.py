"""The registry of trigger models: those that were promoted, on disk, with manifest and card, and which one is live.

A folder for each model, `<name>-<version>`, copied whole before it is named anywhere; and `promoted.json`, replaced in
one step: which model is live, which were live before it, and which one scores in the shadow. A reader sees the state
before or after, never one between.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson

from beforehand import shipped
from beforehand.backends.models import MANIFEST, load
from beforehand.errors import ModelRefused, NotFound
from beforehand.trigger.features import DEFINITION, NAMES

PROMOTED: Final = "promoted.json"
CARD: Final = "README.md"
SHIPPED: Final = "default"
_KEPT: Final = 20
_INCOMING: Final = ".incoming-"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")


@dataclass(frozen=True, slots=True)
class Promoted:
    """What is in use. live: the model that decides; None: the shipped one. before: those before it, newest last.

    shadow: the model that scores beside it and is never heard.
    """

    live: str | None = None
    before: tuple[str | None, ...] = ()
    shadow: str | None = None


@dataclass(frozen=True, slots=True)
class Registered:
    """A model that can be named. problem: why it cannot be used, else None."""

    name: str
    folder: Path
    manifest: dict[str, Any]
    problem: str | None

    @property
    def card(self) -> str:
        """The model's card; empty when it has none."""
        file = self.folder / CARD
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


class Registry:
    """The models in `folder`, which need not exist, beside those that are shipped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stamp(self) -> tuple[int, int] | None:
        """Changes whenever another model is promoted; None while none ever was. One look at the disk."""
        try:
            found = (self._folder / PROMOTED).stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino

    def promoted(self) -> Promoted:
        """What is in use. Raises ModelRefused when the file that says so cannot be read."""
        file = self._folder / PROMOTED
        try:
            told = orjson.loads(file.read_bytes())
            live, shadow, before = told["live"], told["shadow"], tuple(told["before"])
        except FileNotFoundError:
            return Promoted()
        except (orjson.JSONDecodeError, KeyError, TypeError, OSError) as error:
            raise ModelRefused(f"{file} cannot be read ({error!r}).", "Promote a model again.") from None
        if not all(name is None or isinstance(name, str) for name in (live, shadow, *before)):
            raise ModelRefused(f"{file} does not name models.", "Promote a model again.")
        return Promoted(live, before, shadow)

    def known(self) -> list[Registered]:
        """All models that can be named: shipped, then registered, by name."""
        return [_registered(place) for place in self._places().values()]

    def find(self, name: str) -> Registered:
        """The model of that name, or in that folder when the name has a slash. Raises NotFound."""
        if "/" in name:
            if Path(name).is_dir():
                return _registered(Path(name))
            raise NotFound(f"there is no folder {name!r}.", "Give the folder that `beforehand train` wrote.")
        places = self._places()
        if name not in places:
            advice = f"There are {', '.join(places)}; a folder has a slash in it."
            raise NotFound(f"there is no trigger model {name!r}.", advice)
        return _registered(places[name])

    def promote(self, name: str, *, shadow: bool = False) -> str:
        """Let a model decide, or score in the shadow; one in a folder is copied in first. Returns its name here.

        Raises NotFound, or ModelRefused for one that cannot be used.
        """
        found = self.find(name)
        if found.problem is not None:
            raise ModelRefused(found.problem, "Nothing was promoted.")
        kept = self._copied(found) if "/" in name else found.name
        now = self._known_state()
        if shadow:
            self._write(replace(now, shadow=kept))
        elif kept != (now.live or SHIPPED):
            live = None if kept == SHIPPED else kept
            self._write(replace(now, live=live, before=(*now.before, now.live)[-_KEPT:]))
        return kept

    def rollback(self, *, shadow: bool = False) -> str:
        """Back to the model that was live before; or nothing in the shadow. Returns what is live then.

        Raises NotFound when there is nothing before it, ModelRefused when the one before cannot be used any more.
        """
        now = self.promoted()
        if shadow:
            self._write(replace(now, shadow=None))
            return now.live or SHIPPED
        if not now.before:
            raise NotFound("no model was live before this one.", "`beforehand models promote` chooses one by name.")
        *earlier, back = now.before
        problem = self.find(back or SHIPPED).problem
        if problem is not None:
            raise ModelRefused(problem, "Promote another by name.")
        self._write(replace(now, live=back, before=tuple(earlier)))
        return back or SHIPPED

    def _places(self) -> dict[str, Path]:
        """Name to folder; a shipped model keeps its name."""
        folders = (self._folder, shipped.folder("models") / "trigger")
        return {
            place.name: place
            for folder in folders
            if folder.is_dir()
            for place in sorted(folder.iterdir())
            if place.is_dir() and not place.name.startswith(".")
        }

    def _known_state(self) -> Promoted:
        """What is in use; a file that cannot be read is replaced by the promotion that follows."""
        try:
            return self.promoted()
        except ModelRefused:
            return Promoted()

    def _copied(self, found: Registered) -> str:
        name = f"{found.manifest['name']}-{found.manifest['version']}"
        if not _NAME.fullmatch(name):
            raise ModelRefused(
                f"{name!r} cannot name a folder.", "Train it under a name of letters, digits, dots and dashes."
            )
        target = self._folder / name
        if target.is_dir() and _registered(target).problem is None:
            return name
        incoming = self._folder / f"{_INCOMING}{name}"
        shutil.rmtree(incoming, ignore_errors=True)
        shutil.copytree(found.folder, incoming)
        shutil.rmtree(target, ignore_errors=True)
        incoming.rename(target)
        return name

    def _write(self, state: Promoted) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        unfinished = self._folder / f".{PROMOTED}"
        unfinished.write_bytes(orjson.dumps(asdict(state), option=orjson.OPT_INDENT_2))
        unfinished.replace(self._folder / PROMOTED)


def metrics_of(manifest: dict[str, Any]) -> list[tuple[str, str, dict[str, float]]]:
    """(source, which model, measures) of what the manifest says was measured when the model was made."""
    sources: dict[str, dict[str, dict[str, float]]] = manifest.get("metrics") or {}
    return [(source, which, measured) for source, models in sources.items() for which, measured in models.items()]


def _registered(folder: Path) -> Registered:
    problem: str | None = None
    manifest: dict[str, Any] = {}
    try:
        load(folder, NAMES, DEFINITION)
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
    except ModelRefused as refusal:
        problem = refusal.problem
    return Registered(folder.name, folder, manifest, problem)
