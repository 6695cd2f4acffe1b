"""Everything that a journal holds of somebody into a file, and back into a journal. A new journal is then the same.

An import reads the whole file before it stores the first message, so that of a broken one nothing is stored; and it
asks by identity, so that what is there already stays as it is: also a message that was erased meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from beforehand import limits
from beforehand.backends.export_lines import End, Head, Letter, Line, Message, Told, read, written
from beforehand.errors import ExportBroken, NotFound, Refusal
from beforehand.messages import topics
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Scope
from beforehand.ports import DeadLetter, Journal, PacketRecord

Content = Entry | PacketRecord | DeadLetter


@dataclass(slots=True)
class Imported:
    """What an import found in the file, and what of it was new. dead_letters: those that were new."""

    messages: int = 0
    new_messages: int = 0
    packets: int = 0
    new_packets: int = 0
    dead_letters: int = 0


async def exported(journal: Journal, tenant: str | None = None, agent: str | None = None) -> AsyncIterator[bytes]:
    """The lines of an export: of everybody, a tenant or an agent. The journal may be written meanwhile.

    Raises NotFound when there is nothing.
    """
    names = [name for name in (tenant, agent) if name is not None]
    yield written(Head(of="/".join(names) or None))
    count: Counter[str] = Counter()
    runs: dict[Scope, None] = {}
    async for page in journal.read(tenant=tenant, agent=agent):
        for row in page:
            runs[row.entry.scope] = None
            yield written(Message.of(row))
        count["messages"] += len(page)
    for scope in runs:
        for record in await journal.packets(scope):
            count["packets"] += 1
            yield written(Told.of(record))
    for letter in reversed(await journal.dead_letters(limits.DEAD_LETTERS)):
        if topics.concerns(letter.topic, *names):
            count["dead_letters"] += 1
            yield written(Letter.of(letter))
    if not count:
        raise NotFound(
            f"the journal has nothing of {'/'.join(names) or 'anybody'}.", "Look at the names: they are of the topics."
        )
    yield written(End(**count))


async def imported(journal: Journal, file: Path) -> Imported:
    """Store what a file holds and the journal does not have, in the order of the file, behind what is there.

    Raises ExportBroken, naming the line, before anything is stored.
    """
    for _ in _contents(file):
        pass
    done = Imported()
    known = set(await journal.dead_letters(limits.DEAD_LETTERS))
    for some in _batches(_contents(file)):
        stored = await journal.append([one for one in some if isinstance(one, Entry)])
        done.messages += len(stored)
        done.new_messages += sum(not one.duplicate for one in stored)
        records = [one for one in some if isinstance(one, PacketRecord)]
        new = [record for record in records if await journal.packet(record.packet.id) is None]
        await journal.record(new)
        done.packets += len(records)
        done.new_packets += len(new)
        letters = [one for one in some if isinstance(one, DeadLetter) and one not in known]
        await journal.set_aside(letters)
        done.dead_letters += len(letters)
    return done


def _contents(file: Path) -> Iterator[Content]:
    """What stands between the first line and the last. Raises ExportBroken."""
    count: Counter[str] = Counter()
    end: End | None = None
    number = 0
    with file.open("rb") as opened:
        for number, text in enumerate(opened, 1):
            try:
                line = _read(text, first=number == 1, over=end is not None)
                if isinstance(line, Message | Told | Letter):
                    count[f"{line.line}s"] += 1
                    yield line.content()
            except Refusal as error:
                raise ExportBroken(str(file), number, f"{error.field}: {error.problem};", f"{error.advice}.") from None
            end = line if isinstance(line, End) else None
    if end is None or end != End(**count):
        advice = "Lines are missing: write it anew with `beforehand export`."
        raise ExportBroken(str(file), number, "the export ends too early.", advice)


def _read(text: bytes, *, first: bool, over: bool) -> Line:
    line = read(text)
    if isinstance(line, Head) is not first or over:
        raise Refusal("line", "it does not belong here", "import one export at a time, as it was written")
    return line


def _batches(contents: Iterator[Content]) -> Iterator[list[Content]]:
    batch: list[Content] = []
    for content in contents:
        batch.append(content)
        if len(batch) == limits.BATCH_MESSAGES:
            yield batch
            batch = []
    yield batch
