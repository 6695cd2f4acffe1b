"""A memory takes the place of another only when it holds all that the other holds."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from beforehand.pipeline.trimming import Trimming

KEY = ("t", "a")


class Journal:
    """Reads beside a message that is on its way: it is on disk behind the first reading."""

    events = 0

    def __init__(self, on_the_way):
        self.on_the_way = on_the_way
        self.stored = 5
        self.readings = 0

    async def anew(self, *_):
        return [], 5

    async def follow(self, memory, _):
        self.readings += 1
        upto = self.stored
        memory.append(upto)
        if self.on_the_way.pop(KEY, None):
            self.stored += 1
        return upto


def test_a_message_that_reaches_the_disk_behind_the_reading_is_read_before_the_place_is_taken():
    on_the_way = {KEY: 1}
    journal = Journal(on_the_way)
    one = SimpleNamespace(touches=3)
    placed = {}
    trimming = Trimming(journal, {KEY: one}, on_the_way, placed.__setitem__)
    assert asyncio.run(trimming.renew(KEY, one))
    assert placed[KEY][-1] == journal.stored == 6
