"""Commands that look: config show, doctor."""

from __future__ import annotations

import typer
from pydantic import SecretStr
from pydantic_core import to_json

from beforehand.cli import doctor
from beforehand.cli.shared import Config, Json, advising, load, out, print_json

config_app = typer.Typer(no_args_is_help=True, help="Settings.")


def add_to(app: typer.Typer) -> None:
    """Mount the commands."""
    app.add_typer(config_app, name="config")
    app.command(name="doctor")(doctor.doctor)


@config_app.command()
def show(config: Config = None, json: Json = False) -> None:
    """Every setting in force, as TOML: defaults, under the file, under the environment. Secrets are masked."""
    with advising():
        settings = load(config)
    values = settings.model_dump(mode="json")
    if json:
        print_json(values)
        return
    for section, entries in values.items():
        out.print(f"[{section}]")
        for name, value in entries.items():
            meaning = type(getattr(settings, section)).model_fields[name].description or ""
            secret = isinstance(getattr(getattr(settings, section), name), SecretStr)
            out.print(_line(name, value, meaning, secret=secret), soft_wrap=True)


def _line(name: str, value: object, meaning: str, *, secret: bool) -> str:
    """A line of TOML; its strings, numbers, truth values and lists are written as in JSON. Not set: a comment."""
    if value is None:
        return f"# {name} =  # {meaning}"
    return f"{'# ' if secret else ''}{name} = {to_json(value).decode()}  # {meaning}"
