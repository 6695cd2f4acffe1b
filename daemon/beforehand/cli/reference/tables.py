"""The tables of the reference pages, each read off the code that it describes."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from typing import Any

import orjson
from pydantic import BaseModel

from beforehand import errors, limits, measures
from beforehand.messages import base, inbound, outbound, shape
from beforehand.settings import ENVIRONMENT_PREFIX, Settings

_SECTION = re.compile(r"# --- (.+) ---")


def fields(name: str) -> str:
    """The fields of one message model: what each holds, its default, its meaning."""
    model = _model(name)
    inbound_one = issubclass(model, base.Inbound) and model is not base.Inbound
    inherited = base.Inbound.model_fields.keys() if inbound_one else ()
    whole = shape.schema(model)
    rows = []
    for field, form in whole["properties"].items():
        if field not in inherited:
            default = "" if model.__module__ == outbound.__name__ else _default(field, form, whole)
            meaning = _meaning(form.get("description", ""), default, _first(form))
            rows.append((f"`{field}`", shape.words(form, whole), meaning))
    return _table(("field", "holds", "meaning"), rows)


def _model(name: str) -> type:
    for module in (inbound, outbound, base):
        found: Any = getattr(module, name, None)
        if inspect.isclass(found) and (issubclass(found, BaseModel) or is_dataclass(found)):
            return found
    raise LookupError(f"no message model {name!r}")


def _default(field: str, form: shape.Form, whole: shape.Form) -> str:
    if field in whole.get("required", ()):
        return "**Required.**"
    default = form.get("default")
    return "" if default in (None, "", [], {}) else f"Default `{orjson.dumps(default).decode()}`."


def _first(form: shape.Form) -> str:
    examples = form.get("examples", ())
    return f"Example: `{orjson.dumps(examples[0]).decode()}`." if examples else ""


def _meaning(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def settings(section: str) -> str:
    """One section of the settings: name, environment variable, what it holds, default, meaning."""
    model = Settings.model_fields[section].annotation
    if not (inspect.isclass(model) and issubclass(model, BaseModel)):
        raise LookupError(f"no section {section!r}")
    whole = shape.schema(model)
    rows = []
    for name, form in whole["properties"].items():
        variable = f"{ENVIRONMENT_PREFIX}{section}__{name}".upper()
        default = form.get("default")
        shown = "" if default is None else f"`{orjson.dumps(default).decode()}`"
        rows.append((f"`{name}`", f"`{variable}`", shape.words(form, whole), shown, form.get("description", "")))
    return _table(("setting", "environment", "holds", "default", "meaning"), rows)


def metrics() -> str:
    """Every metric."""
    rows = [
        (f"`{each.name}`", each.kind, ", ".join(f"`{label}`" for label in each.labels), each.help)
        for each in measures.ALL
    ]
    return _table(("metric", "kind", "labels", "meaning"), rows)


def bounds() -> str:
    """Every limit by section, with its docstring."""
    sections: dict[str, list[tuple[str, str, str]]] = {}
    for section, name, meaning in _limits(inspect.getsource(limits)):
        sections.setdefault(section, []).append((f"`{name}`", f"{getattr(limits, name):,}", meaning))
    head = ("limit", "value", "meaning")
    return "\n\n".join(f"## {title[0].upper()}{title[1:]}\n\n{_table(head, rows)}" for title, rows in sections.items())


def _limits(source: str) -> Iterator[tuple[str, str, str]]:
    """Section, name and docstring of each constant, in order."""
    statements = ast.parse(source).body
    for statement, following in zip(statements, [*statements[1:], ast.Pass()], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            above = _SECTION.findall("\n".join(source.splitlines()[: statement.lineno]))
            yield above[-1], statement.target.id, " ".join(_docstring(following).split())


def _docstring(statement: ast.stmt) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
        case _:
            return ""


def error_tree(parent: type = errors.BeforehandError, depth: int = 0) -> str:
    """The tree of errors, each with what it means."""
    own = f"{'  ' * depth}- `{parent.__name__}`: {' '.join((parent.__doc__ or '').split())}"
    below = [each for each in vars(errors).values() if isinstance(each, type) and each.__base__ is parent]
    return "\n".join([own, *(error_tree(each, depth + 1) for each in below)])


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
