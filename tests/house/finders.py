"""What the tidy test looks for. Each finder is a function of text or of paths, so that it can be shown to find."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

MODULE_LINES = 300
FUNCTION_LINES = 50
VAGUE = {"util", "utils", "helper", "helpers", "manager", "managers", "engine", "engines", "misc", "common"}
PRODUCT = "beforehand"
# Written in pieces, so that these lines do not find themselves.
UNFINISHED = re.compile(rf"\b(?:{'|'.join(('TO' + 'DO', 'FIX' + 'ME', 'X' * 3))})\b")
REGISTRIES = re.compile(
    "|".join(
        rf"\b{name}\.{end}\b"
        for name, end in [
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "(?:org|com)"),
            ("deb.debian", "org"),
            ("proxy.golang", "org"),
        ]
    )
)
# Samples in tests and documents speak of these people, and of nobody's machine.
STAND_INS = ("user", "alice", "bob", "ada")
MACHINE_PATHS = re.compile(rf"(?<![\w.~/])/(?:work|home|root|Users)/(?!(?:{'|'.join(STAND_INS)})\b)[\w.]")

Functions = ast.FunctionDef | ast.AsyncFunctionDef


def long_functions(source: str) -> list[str]:
    """`name (lines)` of each function longer than FUNCTION_LINES."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, Functions)]
    sizes = [(node.name, (node.end_lineno or node.lineno) - node.lineno + 1) for node in functions]
    return [f"{name} ({lines})" for name, lines in sizes if lines > FUNCTION_LINES]


def words(name: str) -> set[str]:
    """`TaskManager`, `task_manager` and `task-manager` as {"task", "manager"}."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def vague_names(path: str, source: str) -> list[str]:
    """The parts of the path, the classes and the functions whose name says nothing."""
    defined = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef | Functions)]
    return [name for name in (*PurePosixPath(path).with_suffix("").parts, *defined) if words(name) & VAGUE]


def classes_named_after_the_product(source: str) -> list[str]:
    """Classes with the product's name in theirs."""
    nodes = ast.walk(ast.parse(source))
    return [node.name for node in nodes if isinstance(node, ast.ClassDef) and PRODUCT in node.name.lower()]


def relative_imports(source: str) -> list[int]:
    """Lines of `from . import`."""
    return [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.level]


def imports_inside_functions(source: str) -> list[str]:
    """`function: module` of each import that runs when a function is called."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Functions):
            for inner in ast.walk(node):
                if isinstance(inner, ast.ImportFrom):
                    found.append(f"{node.name}: {inner.module}")
                elif isinstance(inner, ast.Import):
                    found += [f"{node.name}: {name.name}" for name in inner.names]
    return found


def module_name(path: str) -> str:
    """`daemon/beforehand/messages/codec.py` as `beforehand.messages.codec`; a package by its own name."""
    parts = PurePosixPath(path).relative_to("daemon").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def orphans(sources: Mapping[str, str], entry_points: set[str]) -> list[str]:
    """Modules that no other module imports. sources: module name to source."""
    used: set[str] = set()
    for name, source in sources.items():
        used |= {imported for imported in _imports(source) if imported != name}
    return sorted(name for name in sources if name not in entry_points and not _is_used(name, used))


def _imports(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _is_used(name: str, used: set[str]) -> bool:
    """A package is used when one of its modules is."""
    return any(each == name or each.startswith(f"{name}.") for each in used)


def commands_in(markdown: str, program: str) -> list[str]:
    """What stands after `program` on its own line or after `$` in code blocks, and in code spans that start with it."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", markdown, re.DOTALL | re.MULTILINE)
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE))
    return [text.removeprefix(f"{program} ") for text in (*lines, *spans) if text.startswith(f"{program} ")]


def exceptions_without_reason(source: str) -> list[int]:
    """Lines that switch a lint rule off and do not say why."""
    silent = re.compile(r"# noqa\b(?::\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?\s*$")
    return [number for number, line in enumerate(source.splitlines(), 1) if silent.search(line)]


def links_in(document: str) -> list[str]:
    """Where the links of a document lead within the repository, without their anchors."""
    found = re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", document)
    return [link for link in found if not re.match(r"[a-z]+:", link)]
