"""What is built is what was meant: rules and models inside the package, nothing else on the import path."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from build import ProjectBuilder

ROOT = Path(__file__).parents[2]
SHIPPED = ("rules", "models")
# The build's own by-products and editors' leftovers, which are rightly kept out of git.
NEVER_SHIPPED = {"__pycache__", ".DS_Store"}


def listed(*arguments):
    found = subprocess.run(["git", "ls-files", "-z", *arguments], cwd=ROOT, capture_output=True, check=True, text=True)
    return {name for name in found.stdout.split("\0") if name and (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The repository as a fresh clone would have it: nothing that git ignores."""
    copy = tmp_path_factory.mktemp("source")
    for name in listed("--cached", "--others", "--exclude-standard"):
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    return copy


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    return Path(ProjectBuilder(source).build("wheel", tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def sdist(source, tmp_path_factory):
    return Path(ProjectBuilder(source).build("sdist", tmp_path_factory.mktemp("sdist")))


@pytest.fixture(scope="module")
def in_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def in_sdist(sdist):
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_only_the_package_becomes_an_import_name(in_wheel):
    tops = {name.partition("/")[0] for name in in_wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"beforehand"}


def test_all_code_is_in_the_wheel(in_wheel):
    code = {name.removeprefix("daemon/") for name in listed("--cached", "--", "daemon")}
    assert "beforehand/py.typed" in code
    assert code <= in_wheel


@pytest.mark.parametrize("folder", SHIPPED)
def test_every_file_of_a_shipped_folder_is_in_the_wheel(folder, in_wheel):
    shipped = {f"beforehand/_shipped/{name}" for name in listed("--cached", "--", folder)}
    assert shipped
    assert shipped <= in_wheel


@pytest.mark.parametrize("folder", SHIPPED)
def test_git_ignores_no_artefact(folder):
    on_disk = {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not NEVER_SHIPPED & set(path.parts)
    }
    assert on_disk == listed("--cached", "--others", "--exclude-standard", "--", folder)


def test_the_source_archive_builds_the_same_wheel(sdist, in_wheel, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    built = ProjectBuilder(unpacked).build("wheel", tmp_path / "again")
    with zipfile.ZipFile(built) as archive:
        assert set(archive.namelist()) == in_wheel


def test_the_source_archive_has_what_a_packager_needs(in_sdist):
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile"} <= in_sdist
    assert any(name.startswith("tests/") for name in in_sdist)


def test_an_installed_wheel_finds_its_rules_and_models(wheel, tmp_path):
    installed = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", installed, wheel],
        check=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    program = (
        "import beforehand; from beforehand import shipped; "
        "print(beforehand.__file__, *(shipped.folder(name) for name in ('rules', 'models')), sep='\\n')"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(installed)},
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    package = installed / "beforehand"
    assert said == [str(package / "__init__.py"), *(str(package / "_shipped" / name) for name in SHIPPED)]
    assert list((package / "_shipped" / "rules").glob("*.yaml"))
