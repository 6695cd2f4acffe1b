"""Inputs that nobody should send, and mutations of them: read, or refused with advice; never another error."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from random import Random

import pytest

from beforehand import configuration
from beforehand.errors import Refusal, RuleError, SettingsError
from beforehand.index.time_expressions import expressions
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.trigger import packs
from simulation.mutations import _mangled

CORPUS = Path(__file__).parents[1] / "data" / "corpus"
MUTATIONS = 60
NOW = datetime(2026, 3, 1, 12)  # noqa: DTZ001  local by design


def seeds(folder: str) -> list[Path]:
    found = sorted((CORPUS / folder).iterdir())
    assert found
    return found


def forms(data: bytes, name: str) -> list[bytes]:
    """The seed as it is, then broken in one to three places."""
    chance = Random(name)
    made = [data]
    for _ in range(MUTATIONS):
        broken = data
        for _ in range(chance.randrange(1, 4)):
            broken = _mangled(broken, chance)
        made.append(broken)
    return made


def read_or(refusal, read, *given, **named):
    """What `read` gives, None when it refuses with a problem; every other error is a failure."""
    try:
        return read(*given, **named)
    except refusal as error:
        problem = error.problem
    assert problem
    return None


@pytest.mark.parametrize("file", seeds("codec"), ids=lambda file: file.name)
def test_a_message_is_read_or_refused_with_its_field(file):
    channel = file.name.split(".")[1]
    address = Address(Scope("t", "a", "r"), channel)
    for data in forms(file.read_bytes(), file.name):
        entry = read_or(Refusal, codec.read, address, data, received_us=0, arrival_id="m1")
        if entry is not None:
            kept = {"key": entry.id, "at_us": entry.at_us, "received_us": 0, "retained": False}
            assert codec.restore(address, entry.body, **kept).message == entry.message


@pytest.mark.parametrize("file", seeds("rules"), ids=lambda file: file.name)
def test_a_rule_pack_is_read_or_refused_by_its_line(file):
    for data in forms(file.read_bytes(), file.name):
        read_or(RuleError, packs.read, data, file.name)


def test_a_question_with_times_in_it_is_always_understood_or_left_alone():
    for question in (CORPUS / "recall" / "questions.txt").read_text().splitlines():
        for data in forms(question.encode(), question):
            text = data.decode(errors="replace")
            for found in expressions(text, NOW):
                assert found is not None


@pytest.mark.parametrize("file", seeds("config"), ids=lambda file: file.name)
def test_settings_are_read_or_refused_with_advice(file, tmp_path):
    broken = tmp_path / file.name
    for data in forms(file.read_bytes(), file.name):
        broken.write_bytes(data)
        read_or(SettingsError, configuration.load, broken)
