"""`beforehand rules`: check packs and their golden cases, list rules, try them on a situation."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from beforehand.backends import rule_files
from beforehand.errors import BeforehandError, NotFound, RuleError
from beforehand.memory.record import FOREVER
from beforehand.trigger import marked, schema
from beforehand.trigger.cases import FragmentPart, judge, over_sample, read_cases
from beforehand.trigger.packs import Pack, check, read
from beforehand.trigger.rules import Verdict, fire
from beforehand.trigger.situation import Situation, describe

commands = typer.Typer(no_args_is_help=True, help="Rule packs: check, list, try.")

Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]
Packs = Annotated[
    list[str] | None, typer.Option("--pack", help="Name of a shipped pack or path; default: all shipped.")
]


@dataclass(frozen=True, slots=True)
class Checked:
    """One pack file, checked with the cases beside it."""

    file: str
    pack: str | None
    rules: int
    cases: int
    errors: list[RuleError]


def add_to(app: typer.Typer) -> None:
    """Mount the group."""
    app.add_typer(commands, name="rules")


@commands.command("check")
def check_packs(
    paths: Annotated[list[Path] | None, typer.Argument(help="Packs or folders; default: all shipped packs.")] = None,
    as_json: Json = False,
) -> None:
    """Check rule packs and run the golden cases beside them. Exit code 1 when anything is wrong."""
    checked = [_checked(file) for file in _files(paths)]
    errors = [error for each in checked for error in each.errors]
    if as_json:
        typer.echo(json.dumps({"ok": not errors, "packs": [_plain(each) for each in checked]}, ensure_ascii=False))
    else:
        _report(checked)
    raise typer.Exit(1 if errors or not checked else 0)


@commands.command("list")
def list_rules(packs: Packs = None, as_json: Json = False) -> None:
    """List the rules of packs."""
    rules = [rule for pack in _load(packs) for rule in pack.rules]
    if as_json:
        rows = [
            {"name": rule.name, "when": rule.when.text, "weight": rule.weight, "description": rule.description}
            for rule in rules
        ]
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for rule in rules:
        channels = dict.fromkeys(action.channel for action in rule.actions)
        does = ", ".join([*channels, *(["message"] if rule.message else [])])
        pause = " ".join(["", *_cooldown(rule.cooldown_steps, rule.cooldown_s)])
        console.print(f"[bold green]{rule.name}[/] [dim]weight {rule.weight:g}{pause}[/] {does}")
        console.print(Padding(escape(rule.description), (0, 0, 0, 2)))


@commands.command("try")
def try_rules(
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="A field of the situation, such as step.tool=book_flight.")
    ] = None,
    packs: Packs = None,
    as_json: Json = False,
) -> None:
    """Show which rules fire, and why, in a sample situation that --set changes."""
    loaded = _load(packs)
    try:
        situation = over_sample(_fragment(changes or []))
    except RuleError as error:
        raise _failed(error) from None
    verdict = fire(loaded, situation)
    if as_json:
        typer.echo(json.dumps(_verdict(verdict, situation), ensure_ascii=False))
    else:
        _show(verdict)
    raise typer.Exit(1 if verdict.faults else 0)


def _files(paths: list[Path] | None) -> list[Path]:
    files: list[Path] = []
    for path in paths or [rule_files.shipped_folder()]:
        if path.name.endswith(rule_files.CASES):
            files.append(path.with_name(path.name.removesuffix(rule_files.CASES) + ".yaml"))
        else:
            files += rule_files.packs_in(path) if path.is_dir() else [path]
    return list(dict.fromkeys(files))


def _checked(file: Path) -> Checked:
    name = str(file)
    try:
        raw = rule_files.content(file)
    except RuleError as error:
        return Checked(name, None, 0, 0, [error])
    errors = check(raw, name)
    if errors:
        return Checked(name, None, 0, 0, errors)
    pack = read(raw, name)
    beside = rule_files.cases_of(file)
    if not beside.is_file():
        return Checked(name, pack.name, len(pack.rules), 0, [])
    try:
        cases, errors = read_cases(rule_files.content(beside), str(beside), pack)
    except RuleError as error:
        return Checked(name, pack.name, len(pack.rules), 0, [error])
    for case in cases:
        errors += judge(pack, case, str(beside))
    return Checked(name, pack.name, len(pack.rules), len(cases), errors)


def _plain(checked: Checked) -> dict[str, Any]:
    errors = [
        {"file": each.file, "line": each.line, "problem": each.problem, "advice": each.advice}
        for each in checked.errors
    ]
    return {
        "file": checked.file,
        "pack": checked.pack,
        "rules": checked.rules,
        "cases": checked.cases,
        "errors": errors,
    }


def _report(checked: list[Checked]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    for each in checked:
        for error in each.errors:
            where, problem = escape(f"{error.file}:{error.line}:"), escape(error.problem)
            console.print(f"[bold]{where}[/] [red]{problem}[/] {escape(error.advice)}".rstrip())
        if not each.errors:
            what = f"{each.rules} rules, {each.cases} cases"
            console.print(f"[green]ok[/] {escape(each.file)}: {what}")
    if not checked:
        console.print("[red]there is no rule pack here.[/] Packs are files that end in .yaml.")


def _load(names: list[str] | None) -> list[Pack]:
    try:
        return rule_files.load(names or [str(file) for file in rule_files.shipped_packs()])
    except (RuleError, NotFound) as error:
        raise _failed(error) from None


def _failed(error: BeforehandError) -> typer.Exit:
    Console(stderr=True, soft_wrap=True, highlight=False).print(f"[red]{escape(str(error))}[/]")
    return typer.Exit(1)


def _fragment(changes: list[str]) -> dict[str, Any]:
    """`step.tool=x` and the like as one nested mapping. Raises RuleError for what is no field or has a wrong type."""
    whole: dict[str, Any] = {}
    for change in changes:
        name, given, value = change.partition("=")
        if not given:
            raise RuleError(f"--set {change}", 1, "no value.", "Write field=value, such as step.tool=book_flight.")
        kinds = {field: kind for field, kind, _ in describe()}
        written = json.dumps(value, ensure_ascii=False) if kinds.get(name) == "text" else value
        *outer, last = name.split(".")
        lines = [f"{'  ' * depth}{part}:\n" for depth, part in enumerate(outer)]
        found = marked.source(f"{''.join(lines)}{'  ' * len(outer)}{last}: {written}", f"--set {change}")
        document = marked.compose(found)
        if document is None or schema.valid(FragmentPart, document, found, ()) is None or found.errors:
            raise found.errors[0]
        target = whole
        for part in outer:
            target = target.setdefault(part, {})
        data: Any = document.data
        for part in outer:
            data = data[part]
        target.update(data)
    return whole


def _verdict(verdict: Verdict, situation: Situation) -> dict[str, Any]:
    return {
        "fired": [
            {
                "rule": each.rule.name,
                "score": each.score,
                "when": each.rule.when.text,
                "recalls": [_asked(asdict(recall)) for recall in each.recalls],
                "warning": each.warning,
            }
            for each in verdict.firings
        ],
        "faults": [asdict(each) for each in verdict.faults],
        "situation": situation.as_variables(),
    }


def _asked(recall: dict[str, Any]) -> dict[str, Any]:
    """What a question asks for, without what it leaves open."""
    said = {name: value for name, value in recall.items() if value not in ((), None, "", frozenset(), 0, FOREVER)}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in said.items()}


def _show(verdict: Verdict) -> None:
    console = Console(soft_wrap=True, highlight=False)
    for each in verdict.firings:
        console.print(f"[bold green]{each.rule.name}[/] [dim]score {each.score:g}[/]")
        console.print(f"  because {escape(' '.join(each.rule.when.text.split()))}")
        for recall in each.recalls:
            asked = _asked(asdict(recall))
            rest = ", ".join(f"{name}={value!r}" for name, value in asked.items() if name != "channel")
            console.print(f"  recalls [cyan]{recall.channel}[/] {escape(rest)}")
        if each.warning:
            console.print(f"  says {escape(each.warning)}")
    if not verdict.firings:
        console.print("No rule fires.")
    for fault in verdict.faults:
        console.print(f"[red]{fault.rule} failed: {escape(fault.problem)}[/]")


def _cooldown(steps: int, seconds: float) -> list[str]:
    return [f"cooldown {steps} steps"] * bool(steps) + [f"cooldown {seconds:g} s"] * bool(seconds)
