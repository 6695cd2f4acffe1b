"""Style as a failing test: sizes, names, imports, orphans, leftovers, and a README that tells the truth."""

import re
import subprocess
from pathlib import Path

import pytest

from beforehand.cli.main import COMMANDS, loaded
from house import finders

ROOT = Path(__file__).parents[2]
FILE_BYTES = 10 * 1_048_576

# Loaded by name and not by an import, each for the reason beside it.
ENTRY_POINTS = {
    "beforehand": "the package itself",
    "beforehand.__main__": "python -m beforehand",
    "beforehand.cli.main": "the command `beforehand`",
    "beforehand.cli.reference.__main__": "make docs",
    "beforehand.training.spreading": "train --dask, when the extra is installed",
    **{f"beforehand.cli.{module}": f"the command {name}" for name, (module, _) in COMMANDS.items()},
}
LOADED_BY_ALEMBIC = re.compile(r"beforehand\.backends\.journal\.migrations\b")
# Imports that run when a function is called, each for the reason beside it.
LATE_IMPORTS = {
    "beforehand.cli.experiment: _analysis: beforehand.cli": "the daemon, and all other commands, do without statistics",
    "beforehand.backends.journal.sqlite: _upgrade: beforehand.backends.journal": "an old journal alone needs Alembic",
    "beforehand.assembly: language_model: beforehand.backends.language_model": "an HTTP client for who names one",
    "beforehand.assembly: expiring: beforehand.lifecycle.expiring": "it opens sealed rows; retention alone needs it",
    "beforehand.backends.journal.sqlite: _sealing: beforehand.backends.journal.keys": "sealed journals alone need keys",
    "beforehand.backends.segments.folder: _closed: beforehand.backends.segments": "as above",
    "beforehand.backends.segments.folder: _opened: beforehand.backends.segments": "as above",
    "beforehand.backends.broker.guard: iotcore: iotcore": "only the broker's own process loads the native module",
}
NAMED_AFTER_THE_PRODUCT = {"BeforehandError": "the base of the error tree, which callers catch by this name"}


def tracked():
    """Files of the repository, those about to be added included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())


FILES = tracked()
PYTHON = [name for name in FILES if name.endswith(".py")]
PRODUCT = [name for name in PYTHON if name.startswith("daemon/")]
SHIPPED_PYTHON = [name for name in PYTHON if not name.startswith("tests/")]
PROSE_AND_CODE = [
    name for name in FILES if not name.startswith("tests/data/") and Path(name).suffix not in {".npy", ".ubj", ".png"}
]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_there_is_something_to_look_at():
    assert "daemon/beforehand/messages/codec.py" in PRODUCT
    assert len(PRODUCT) > 50


def test_no_module_is_longer_than_300_lines():
    long = {name: lines for name in PYTHON if (lines := len(text(name).splitlines())) > finders.MODULE_LINES}
    assert long == {}, "it does two things: divide it"


def test_no_function_is_longer_than_50_lines():
    long = {name: found for name in PYTHON if (found := finders.long_functions(text(name)))}
    assert long == {}, "it does two things: divide it"


def test_every_name_says_what_it_names():
    vague = {name: found for name in SHIPPED_PYTHON if (found := finders.vague_names(name, text(name)))}
    assert vague == {}, "name it for what it does"


def test_no_class_is_named_after_the_product():
    named = {each for name in PRODUCT for each in finders.classes_named_after_the_product(text(name))}
    assert named == set(NAMED_AFTER_THE_PRODUCT)


def test_imports_are_absolute():
    assert {name: found for name in PYTHON if (found := finders.relative_imports(text(name)))} == {}


def test_imports_stand_at_the_top():
    late = {
        f"{finders.module_name(name)}: {each}"
        for name in PRODUCT
        for each in finders.imports_inside_functions(text(name))
    }
    assert late == set(LATE_IMPORTS), "move it to the top, or give its reason in LATE_IMPORTS"


def test_every_module_is_used():
    sources = {finders.module_name(name): text(name) for name in PRODUCT}
    orphans = [name for name in finders.orphans(sources, set(ENTRY_POINTS)) if not LOADED_BY_ALEMBIC.match(name)]
    assert orphans == [], "nobody imports it: use it or delete it"
    assert set(ENTRY_POINTS) <= set(sources), "an entry point that is gone"


def test_an_exception_to_a_lint_rule_says_why():
    silent = {name: found for name in PYTHON if (found := finders.exceptions_without_reason(text(name)))}
    assert silent == {}


def test_nothing_is_left_unfinished():
    found = {name: match[0] for name in PROSE_AND_CODE if (match := finders.UNFINISHED.search(text(name)))}
    assert found == {}


@pytest.mark.parametrize("folder", ["daemon", "models", "rules"])
def test_a_top_level_folder_is_no_package(folder):
    assert f"{folder}/__init__.py" not in FILES
    assert (ROOT / folder).is_dir()


def test_no_file_is_larger_than_10_mb():
    large = {name: size for name in FILES if (size := (ROOT / name).stat().st_size) > FILE_BYTES}
    assert large == {}


def test_no_file_names_a_machine_or_a_registry():
    found = {
        name: match[0]
        for name in PROSE_AND_CODE
        for match in [finders.REGISTRIES.search(text(name)) or finders.MACHINE_PATHS.search(text(name))]
        if match
    }
    assert found == {}


def make_targets():
    return set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))


def commands():
    """Every command of the program as its words: {("up",), ("rules", "check"), ...}."""

    def walk(command, names):
        inner = getattr(command, "commands", {})
        if not inner:
            yield names
        for name, each in inner.items():
            yield from walk(each, (*names, name))

    return {names for name in COMMANDS for names in walk(loaded(name), (name,))}


def test_the_readme_names_only_commands_that_exist():
    readme = text("README.md")
    for command in finders.commands_in(readme, "make"):
        assert command.split()[0] in make_targets(), f"make {command}"
    for command in finders.commands_in(readme, "beforehand"):
        given = tuple(command.split())
        assert any(given[: len(known)] == known for known in commands()), f"beforehand {command}"


def test_the_makefile_says_what_each_target_is_for():
    phony = re.search(r"^\.PHONY: (.+)$", text("Makefile"), re.MULTILINE)
    assert set(phony[1].split()) == make_targets()


DOCUMENTS = [name for name in FILES if name.endswith(".md") and not name.startswith("tests/data/")]
NAMED_FILE = re.compile(r"`((?:daemon|tests|rules|models|docs|deploy|examples)/[\w./-]*\w/?)(?= |`)")
GLOSSARY_ROW = re.compile(r"^\| \*\*.+\*\* \| .+ \| (.+) \|$", re.MULTILINE)


def test_documents_name_only_files_that_exist():
    gone = {
        f"{name}: {path}" for name in DOCUMENTS for path in NAMED_FILE.findall(text(name)) if not (ROOT / path).exists()
    }
    assert gone == set()


def test_links_in_documents_lead_somewhere():
    written = [name for name in DOCUMENTS if "/templates/" not in name]  # a template's links are those of its page
    gone = {
        f"{name}: {link}"
        for name in written
        for link in finders.links_in(text(name))
        if not (ROOT / name).parent.joinpath(link).exists()
    }
    assert gone == set()


def test_the_glossary_leads_to_code_that_exists():
    rows = GLOSSARY_ROW.findall(text("docs/glossary.md"))
    paths = [path for row in rows for path in re.findall(r"`([\w./]+\.(?:py|md|toml)|[\w./]+/)`", row)]
    assert len(rows) > 40
    assert [
        path for path in paths if not any((base / path).exists() for base in (ROOT, ROOT / "daemon/beforehand"))
    ] == []


def test_the_glossary_names_what_stands_in_the_module_that_it_leads_to():
    for path, name in re.findall(r"`([\w./]+\.py)` \(`(\w+)`\)", text("docs/glossary.md")):
        assert re.search(rf"\b{name}\b", text(f"daemon/beforehand/{path}")), f"{path}: {name}"


def test_decisions_are_numbered_without_a_gap():
    numbers = [int(Path(name).name[:4]) for name in FILES if re.match(r"docs/decisions/\d{4}-", name)]
    assert numbers == list(range(1, len(numbers) + 1))
