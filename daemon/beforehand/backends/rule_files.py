"""Rule packs on disk: those that are shipped, by name, and others by path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from beforehand import limits, shipped
from beforehand.errors import NotFound, RuleError
from beforehand.trigger.packs import Pack, read

CASES = ".cases.yaml"
"""Ending of the files that hold the golden cases of the pack of the same name."""


def shipped_folder() -> Path:
    """Where the packs are that come with the product."""
    return shipped.folder("rules")


def shipped_packs() -> list[Path]:
    """The packs that come with the product."""
    return packs_in(shipped_folder())


def packs_in(folder: Path) -> list[Path]:
    """The pack files of a folder, by name; files of cases are none."""
    return sorted(file for file in folder.glob("*.yaml") if not file.name.endswith(CASES))


def cases_of(pack: Path) -> Path:
    """Where the golden cases of a pack are, when it has some."""
    return pack.with_name(pack.name.removesuffix(".yaml") + CASES)


def locate(name: str) -> Path:
    """The file of a pack: `core` is a shipped one, `./mine.yaml` a path. Raises NotFound."""
    path = Path(name)
    if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
        if path.is_file():
            return path
        raise NotFound(f"there is no rule pack {name}.", "Give the path of a YAML file, or the name of a shipped pack.")
    known = {file.stem: file for file in shipped_packs()}
    if name not in known:
        raise NotFound(f"there is no shipped rule pack {name!r}.", f"There are: {', '.join(known)}; or give a path.")
    return known[name]


def content(file: Path) -> bytes:
    """The bytes of a pack, no more than just past the limit. Raises RuleError when the file cannot be read."""
    try:
        with file.open("rb") as opened:
            return opened.read(limits.PACK_BYTES + 1)
    except OSError as error:
        raise RuleError(str(file), 1, f"the file cannot be read: {error.strerror}.", "Check path and rights.") from None


def load(names: Sequence[str]) -> list[Pack]:
    """Packs by name or path, in this order. Raises NotFound or RuleError."""
    packs: list[Pack] = []
    for name in names:
        file = locate(name)
        pack = read(content(file), str(file))
        if any(other.name == pack.name for other in packs):
            raise RuleError(str(file), 1, f"a pack named {pack.name!r} is loaded already.", "Rename one of the two.")
        packs.append(pack)
    return packs
