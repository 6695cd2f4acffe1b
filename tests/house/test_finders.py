"""Each finder of the tidy test finds what it is meant to find, and leaves the rest alone."""

import pytest

from house import finders


def test_a_long_function_is_found():
    body = "\n".join(f"    x{number} = {number}" for number in range(finders.FUNCTION_LINES))
    assert finders.long_functions(f"def fits():\n    pass\n\nasync def grown():\n{body}\n") == ["grown (51)"]


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("daemon/beforehand/utils.py", "", ["utils"]),
        ("daemon/beforehand/common/x.py", "", ["common"]),
        ("daemon/beforehand/x.py", "class TaskManager: ...", ["TaskManager"]),
        ("daemon/beforehand/x.py", "def make_engine(): ...", ["make_engine"]),
        ("daemon/beforehand/x.py", "class Packet:\n    def commonest(self): ...", []),
    ],
)
def test_a_vague_name_is_found(path, source, found):
    assert finders.vague_names(path, source) == found


def test_a_class_named_after_the_product_is_found():
    source = "class BeforehandServer: ...\nclass Packet: ...\n"
    assert finders.classes_named_after_the_product(source) == ["BeforehandServer"]


def test_a_relative_import_is_found():
    assert finders.relative_imports("import os\nfrom . import x\nfrom ..y import z\n") == [2, 3]


def test_an_import_inside_a_function_is_found():
    source = "import a\ndef f():\n    import b, c\n    from d.e import g\n"
    assert finders.imports_inside_functions(source) == ["f: b", "f: c", "f: d.e"]


def test_a_module_that_nobody_imports_is_found():
    sources = {
        "p": "",
        "p.main": "from p.used import thing\nfrom p import room\n",
        "p.used": "",
        "p.room": "",
        "p.lost": "import p.lost",
        "p.empty": "",
    }
    assert finders.orphans(sources, {"p.main"}) == ["p.empty", "p.lost"]


@pytest.mark.parametrize("mark", ["TO" + "DO", "FIX" + "ME", "XX" + "X"])
def test_a_leftover_is_found(mark):
    assert finders.UNFINISHED.search(f"# {mark}: later")
    assert not finders.UNFINISHED.search(f"{mark}Y")


@pytest.mark.parametrize(
    "line", ["see /wo" + "rk/main/x", "'/ro" + "ot/.cache'", "(/ho" + "me/somebody/x)", "/ho" + "me/bobby/x"]
)
def test_a_path_of_a_machine_is_found(line):
    assert finders.MACHINE_PATHS.search(line)


@pytest.mark.parametrize(
    "line", ["/home/user/notes.txt", "PWD=/home/bob OLD=1", "topics/work/x", "https://x.example/root/y", "~/work/x"]
)
def test_a_path_that_is_nobodys_is_left_alone(line):
    assert not finders.MACHINE_PATHS.search(line)


@pytest.mark.parametrize("host", ["pypi" + ".org", "files.pythonhosted" + ".org", "registry.npmjs" + ".org"])
def test_a_registry_is_found(host):
    assert finders.REGISTRIES.search(f"https://{host}/simple")


def test_commands_are_found_in_blocks_and_spans():
    page = (
        "Run `make demo` or `beforehand up --json`.\n\n```sh\n$ make test\nbeforehand rules check\nmakeshift x\n```\n"
    )
    assert finders.commands_in(page, "make") == ["test", "demo"]
    assert finders.commands_in(page, "beforehand") == ["rules check", "up --json"]


def test_an_exception_without_a_reason_is_found():
    mark = "# no" + "qa"
    source = f"a = 1  {mark}\nb = 1  {mark}: S101\nc = 1  {mark}: S608,B007\nd = 1  {mark}: S101  it checks itself\n"
    assert finders.exceptions_without_reason(source) == [1, 2, 3]


def test_links_within_the_repository_are_found():
    page = "[a](b.md), [c](../d.md#here), [e](#there), [f](https://x.example/y), [g](mailto:x@x.example)"
    assert finders.links_in(page) == ["b.md", "../d.md"]
