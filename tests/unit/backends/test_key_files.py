"""The master key and the key store: what is accepted, what each fault says, and what is left after a change."""

from __future__ import annotations

import base64
import os
import sys
from dataclasses import replace

import pytest

from beforehand import limits
from beforehand.backends.sealing import key_store, master_key
from beforehand.errors import KeysUnusable
from sealed import MASTER, key_file

ORIGIN = b"o" * 32


def printing(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    "written",
    [MASTER, MASTER.hex().encode(), MASTER.hex().upper().encode() + b"\n", base64.b64encode(MASTER) + b"\r\n"],
)
def test_a_master_key_is_read_as_bytes_as_hex_digits_and_in_base64(tmp_path, written):
    assert master_key.from_file(key_file(tmp_path, written)) == MASTER


@pytest.mark.parametrize(
    "written", [b"", b"secret\n", MASTER[:31], MASTER * 2, MASTER.hex().encode()[:-2], b"\xff" * 44]
)
def test_a_file_that_holds_no_key_is_refused_with_what_would_be_right(tmp_path, written):
    with pytest.raises(KeysUnusable, match=r"is no key of 32 bytes.*64 hex digits") as refused:
        master_key.from_file(key_file(tmp_path, written))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_master_key_that_others_can_reach_is_refused(tmp_path, mode):
    path = key_file(tmp_path)
    path.chmod(mode)
    with pytest.raises(KeysUnusable, match="chmod 600"):
        master_key.from_file(path)


def test_a_master_key_that_is_not_there_is_an_error_that_names_the_setting(tmp_path):
    with pytest.raises(KeysUnusable, match=r"cannot be read: No such file.*journal\.key_file"):
        master_key.from_file(tmp_path / "none")


def test_a_command_prints_the_master_key():
    assert master_key.from_command(printing(f"print('{MASTER.hex()}')")) == MASTER


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["/nowhere/vault"], "cannot be run: No such file"),
        (printing("import sys; sys.exit('the vault is shut')"), r"ended with 1: the vault is shut"),
        (printing("print('a' * 63)"), "is no key of 32 bytes"),
        (printing("import time; time.sleep(60)"), "took longer than 0.5 s"),
    ],
)
def test_a_command_that_gives_no_key_is_an_error_that_says_why(monkeypatch, command, problem):
    monkeypatch.setattr(limits, "KEY_COMMAND_S", 0.5 if "sleep" in command[-1] else 30)
    with pytest.raises(KeysUnusable, match=problem):
        master_key.from_command(command)


def test_a_key_store_gives_back_what_it_holds_and_nobody_else_may_read_it(tmp_path):
    made = key_store.create(tmp_path / "keys", MASTER, ORIGIN)
    assert key_store.read(tmp_path / "keys", MASTER) == made
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.nodes[0, 0] not in made.path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["keys"]


def test_a_key_store_is_never_made_over_another(tmp_path):
    first = key_store.create(tmp_path / "keys", MASTER, ORIGIN)
    assert key_store.create(tmp_path / "keys", MASTER, ORIGIN) == first


def test_another_master_key_is_named_and_so_is_a_damaged_store(tmp_path):
    path = key_store.create(tmp_path / "keys", MASTER, ORIGIN).path
    with pytest.raises(KeysUnusable, match=r"written with another master key.*journal\.key_file"):
        key_store.read(path, b"x" * 32)
    whole = path.read_bytes()
    for content, problem in (
        (whole[:-1], "is damaged"),
        (whole[:50], "is damaged"),
        (whole[:-1] + bytes([whole[-1] ^ 1]), "is damaged"),
        (whole[:10] + b"other" + whole[15:], "is damaged"),
        (b"", "is no key store"),
        (b"SQLite format 3\0" * 9, "is no key store"),
    ):
        path.write_bytes(content)
        with pytest.raises(KeysUnusable, match=problem):
            key_store.read(path, MASTER)


def test_what_a_key_store_held_before_is_overwritten(tmp_path):
    made = key_store.create(tmp_path / "keys", MASTER, ORIGIN)
    os.link(made.path, tmp_path / "as it was")
    left = replace(made, nodes={(1, 1): b"n" * 32, (96, 5): b"m" * 32})
    key_store.replace(left)
    assert key_store.read(made.path, MASTER) == left
    assert not any((tmp_path / "as it was").read_bytes())


def test_a_key_store_that_cannot_be_written_stays_what_it_was(tmp_path):
    made = key_store.create(tmp_path / "keys", MASTER, ORIGIN)
    blocked = made.path.with_name(f"keys.{os.getpid()}.part")
    blocked.mkdir()
    with pytest.raises(KeysUnusable, match="cannot be used"):
        key_store.replace(replace(made, nodes={}))
    blocked.rmdir()
    assert key_store.read(made.path, MASTER) == made
