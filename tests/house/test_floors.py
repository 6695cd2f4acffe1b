"""The pure rooms stay pure where an import says nothing about it, and the contracts of `lint-imports` cover them all.

`make check` runs import-linter itself; here is what it cannot see.
"""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "daemon" / "beforehand"
PURE = ["messages", "index", "memory", "feedback", "trigger", "context", "experiment"]
ROOMS = [room for room in PURE if (PACKAGE / room).is_dir()]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
FLOORS = next(contract for contract in CONTRACTS if contract["type"] == "layers")
PURITY = next(contract for contract in CONTRACTS if contract["type"] == "forbidden")
CLOCK = {"now", "utcnow", "today", "time_ns", "perf_counter", "monotonic"}
CHANCE = {"uuid1", "uuid4", "default_rng", "urandom", "getrandbits"}
WORLD = {"open", "print", "input", "exec", "eval", "read_text", "read_bytes", "write_text", "write_bytes"}


def impure(source):
    """`name (line)` of each call that asks the clock, chance or the world."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = [(call.func, call.lineno) for call in calls]
    return [f"{name} ({line})" for func, line in names if (name := called(func)) in CLOCK | CHANCE | WORLD]


def called(func):
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


@pytest.mark.parametrize("room", ROOMS)
def test_a_pure_room_asks_neither_the_clock_nor_chance_nor_the_world(room):
    found = {
        str(path.relative_to(ROOT)): calls
        for path in (PACKAGE / room).rglob("*.py")
        if (calls := impure(path.read_text(encoding="utf-8")))
    }
    assert found == {}, "let it arrive as an argument"


@pytest.mark.parametrize(
    "source",
    ["datetime.now(UTC)", "date.today()", "open('x')", "uuid.uuid4()", "np.random.default_rng(1)", "eval('1')"],
)
def test_an_impure_call_is_found(source):
    assert impure(source)


def test_import_linter_knows_every_pure_room():
    assert set(PURITY["source_modules"]) == {f"beforehand.{room}" for room in ROOMS}


def test_import_linter_forbids_the_loop_the_clock_chance_files_and_logging():
    needed = {"asyncio", "anyio", "threading", "time", "random", "secrets", "logging", "pathlib", "os", "io", "socket"}
    assert needed <= set(PURITY["forbidden_modules"])


def test_every_room_of_the_package_has_its_floor():
    floors = {name.strip("() ") for layer in FLOORS["layers"] for name in layer.split("|")}
    rooms = {path.stem for path in PACKAGE.iterdir() if (path.is_dir() or path.suffix == ".py") and path.name[0] != "_"}
    assert FLOORS["exhaustive"]
    assert rooms <= floors
