"""What agents, users and tools wrote is shown as they wrote it, and tells the terminal nothing."""

import io

import pytest
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from beforehand.cli.screen import Screen

WRITTEN = "use [item_id], not [/INST] :smile: \x1b[2J\x9b31mred\x00"
SHOWN = "use [item_id], not [/INST] :smile: ␛[2J\ufffd31mred␀"


def shown(renderable, **options):
    screen = Screen(file=io.StringIO(), width=80, **options)
    screen.print(renderable)
    return screen.file.getvalue()


def in_a_table(text):
    table = Table("text", "next", box=None)
    table.add_row(text, "beside it")
    return table


def in_a_tree(text):
    tree = Tree(text)
    tree.add(text)
    return tree


@pytest.mark.parametrize("of", [str, Text, in_a_table, in_a_tree])
def test_brackets_stay_and_control_characters_become_pictures(of):
    told = shown(of(WRITTEN))
    assert SHOWN in told
    assert not set(told) & set("\x1b\x9b\x00")


def test_a_table_has_room_for_what_stands_for_a_control_character():
    assert f"{SHOWN}  beside it" in shown(in_a_table(WRITTEN))


def test_lines_and_tabs_stay():
    assert shown("one\n\ttwo").splitlines() == ["one", "        two"]


def test_style_is_still_to_be_had():
    assert shown(Text("live", "bold"), force_terminal=True, color_system="standard") == "\x1b[1mlive\x1b[0m\n"
