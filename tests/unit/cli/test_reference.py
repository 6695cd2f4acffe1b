"""The reference pages: the same as the code, and `--check` names those that are not."""

import shutil
from pathlib import Path

import pytest

from beforehand import errors, limits, measures
from beforehand.cli.reference import commands, pages, tables
from beforehand.cli.reference.__main__ import drifted, main
from beforehand.errors import NotFound
from beforehand.messages import inbound
from beforehand.settings import Settings

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(REFERENCE / "templates", tmp_path / "templates")
    assert main([str(tmp_path)]) == 0
    return tmp_path


def test_the_pages_in_the_repository_say_what_the_code_says():
    assert drifted(REFERENCE) == []


def test_what_was_just_written_has_not_drifted(folder):
    assert main([str(folder), "--check"]) == 0


def test_check_names_a_page_that_was_changed_one_that_is_gone_and_one_left_over(folder, capsys):
    capsys.readouterr()
    page = folder / "metrics.md"
    page.write_text(page.read_text() + "by hand\n")
    (folder / "schemas" / "event.schema.json").unlink()
    (folder / "schemas" / "gone.schema.json").write_text("{}")
    assert main([str(folder), "--check"]) == 1
    said = capsys.readouterr().err
    for name in ("metrics.md", "schemas/event.schema.json", "schemas/gone.schema.json"):
        assert name in said
    assert "wire.md" not in said


def test_writing_again_brings_the_pages_back(folder):
    (folder / "metrics.md").write_text("by hand\n")
    (folder / "schemas" / "gone.schema.json").write_text("{}")
    assert main([str(folder)]) == 0
    assert drifted(folder) == []
    assert not (folder / "schemas" / "gone.schema.json").exists()


def test_pages_that_are_not_generated_are_left_alone(folder):
    own = folder / "benchmarks.md"
    own.write_text("measured\n")
    assert main([str(folder)]) == 0
    assert own.read_text() == "measured\n"


def test_a_template_that_asks_for_an_unknown_part_is_refused_by_name(tmp_path):
    (tmp_path / "page.md").write_text("# Page\n\n<!-- weather -->\n")
    with pytest.raises(NotFound, match=r"page\.md: no part 'weather'\. There are: "):
        pages.rendered(tmp_path)


def test_no_part_of_a_template_is_left_unwritten():
    for page in REFERENCE.glob("*.md"):
        assert "{{" not in page.read_text(), page.name


def test_every_field_of_every_inbound_message_is_in_the_contract_page():
    page = (REFERENCE / "wire.md").read_text()
    for model in inbound.BY_CHANNEL.values():
        for name in model.model_fields:
            assert f"| `{name}` |" in page, name


def test_an_id_that_is_a_messages_own_stands_in_its_table():
    for name in ("PlannedStep", "Packet", "Item", "Receipt", "Reply"):
        assert "| `id` |" in tables.fields(name), name
    assert "| `id` |" not in tables.fields("Event"), "said once for all inbound messages"


def test_every_metric_limit_error_and_setting_has_its_line():
    assert tables.metrics().count("\n") == len(measures.ALL) + 1
    assert all(f"`{name}`" in tables.bounds() for name in vars(limits) if name.isupper())
    assert all(f"`{name}`" in tables.error_tree() for name in vars(errors) if name[0].isupper())
    page = (REFERENCE / "settings.md").read_text()
    for section, field in Settings.model_fields.items():
        for name in field.annotation.model_fields:
            assert f"BEFOREHAND_{section}__{name}".upper() in page


def test_every_limit_carries_its_docstring():
    assert "| `NESTING` | 64 | Depth of the JSON of one message. |" in tables.bounds()
    assert [line for line in tables.bounds().splitlines() if line.startswith("| `") and line.endswith("|  |")] == []


def test_the_page_of_the_command_line_has_every_command_and_no_path_of_this_machine():
    page = (REFERENCE / "cli.md").read_text()
    names = [name for _, name in commands.walk()]
    assert "beforehand rules check" in names
    assert all(f"## `{name}" in page for name in names)
    assert str(REFERENCE.parents[1]) not in page
