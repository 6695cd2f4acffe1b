"""What is left of a message that was erased, or whose key was destroyed, can be read again on every channel."""

from __future__ import annotations

from typing import get_args

import pytest

from beforehand.messages import codec
from beforehand.messages.emptied import emptied, erased_at, unreadable
from beforehand.messages.topics import Address, Channel, Scope

CHANNELS = get_args(Channel)


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("counted", [(None, None), ("boot-1", 7)])
def test_a_message_whose_key_was_destroyed_reads_as_an_erased_one_in_its_place(channel, counted):
    body = unreadable(channel, *counted)
    address = Address(Scope("acme", "booker", "run-1"), channel)
    message = codec.restore(address, body, key="k", at_us=1, received_us=1, retained=False).message
    assert (message.epoch, message.seq) == counted
    assert erased_at(body) == "before this copy was restored"


@pytest.mark.parametrize("channel", CHANNELS)
def test_what_is_emptied_is_known_as_erased_and_may_be_emptied_again(channel):
    once = emptied(channel, unreadable(channel, None, None), "2026-03-02T09:00:00Z")
    assert erased_at(once) == "2026-03-02T09:00:00Z"
