"""Write the reference pages, or with `--check` name those that no longer say what the code says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from beforehand.cli.reference import asyncapi, commands, pages, schemas


def rendered(folder: Path) -> dict[str, str]:
    """Every generated file by its path in `folder`; the prose around the tables is read from `folder`/templates."""
    return {
        **pages.rendered(folder / "templates"),
        **commands.rendered(),
        **schemas.rendered(),
        "asyncapi.yaml": asyncapi.rendered(),
    }


def drifted(folder: Path) -> list[str]:
    """Files of `folder` that differ from the code, are missing, or describe a message that is gone."""
    files = rendered(folder)
    differ = [name for name, text in files.items() if not _says(folder / name, text)]
    left_over = [
        f"schemas/{path.name}" for path in (folder / "schemas").glob("*") if f"schemas/{path.name}" not in files
    ]
    return sorted(differ + left_over)


def write(folder: Path) -> list[str]:
    """Bring `folder` up to date; the files that changed."""
    changed = drifted(folder)
    files = rendered(folder)
    for name in changed:
        target = folder / name
        if name not in files:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(files[name], encoding="utf-8")
    return changed


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, or with `--check` 1 when a page has drifted."""
    parser = argparse.ArgumentParser(prog="python -m beforehand.cli.reference", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pages are: docs/reference")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a page has drifted")
    chosen = parser.parse_args(arguments)
    if not chosen.check:
        for name in write(chosen.folder):
            typer.echo(f"wrote {chosen.folder / name}")
        return 0
    names = drifted(chosen.folder)
    for name in names:
        typer.echo(f"{chosen.folder / name} differs from the code; `make docs` writes it again", err=True)
    return 1 if names else 0


def _says(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
