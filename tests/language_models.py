"""Language models for tests: one in memory, one behind an endpoint on loopback, and a daemon that asks it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import brokers
from beforehand import assembly
from beforehand.backends.clocks import SystemClock, VirtualClock
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.broker import MemoryBroker
from beforehand.backends.memory.bus import MemoryBus
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.errors import LanguageModelError
from beforehand.lifecycle.health import Health
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Address, Scope
from beforehand.ports.language_model import Completion
from beforehand.settings import Settings
from journal_samples import NOON_US

RUN = Scope("shop", "anna", "r1")
NOTHING = {"facts": []}


@dataclass
class Answer:
    """What is answered. content: of the message, text or JSON. raw: the whole body instead. held: no answer comes."""

    content: Any = ""
    status: int = 200
    tokens: int | None = 100
    raw: bytes | None = None
    held: bool = False

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else orjson.dumps(self.content).decode()

    @property
    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        usage = {} if self.tokens is None else {"usage": {"total_tokens": self.tokens}}
        return orjson.dumps({"choices": [{"message": {"role": "assistant", "content": self.text}}], **usage})


class MemoryModel:
    """Answers from memory, as an endpoint would."""

    name = "memory"
    answer_tokens = 800

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        yield

    async def complete(self, instructions: str, data: str) -> Completion:
        self.asked.append((instructions, data))
        if self.answer.held:
            raise LanguageModelError("no answer came.", passing=True, billed=True)
        if self.answer.status != 200 or self.answer.raw is not None:
            raise LanguageModelError("refused.", passing=self.answer.status != 400)
        return Completion(self.answer.text, self.answer.tokens)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass
class Endpoint:
    """An endpoint on loopback. answer: what it answers from now on, to the data that it is given."""

    url: str = ""
    answer: Callable[[dict[str, Any]], Answer] = lambda data: Answer(NOTHING)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def says(self, *args: Any, **fields: Any) -> None:
        """The same to everything."""
        self.answer = lambda data: Answer(*args, **fields)

    @property
    def data(self) -> list[dict[str, Any]]:
        """What each request was about."""
        return [orjson.loads(one["messages"][1]["content"]) for one in self.requests]

    async def respond(self, request: Request) -> Response:
        self.requests.append(orjson.loads(await request.body()))
        self.headers.append(dict(request.headers))
        answer = self.answer(self.data[-1])
        if answer.held:
            await asyncio.sleep(3600)
        return Response(answer.body, status_code=answer.status, media_type="application/json")


@asynccontextmanager
async def endpoint() -> AsyncIterator[Endpoint]:
    made = Endpoint()
    app = Starlette(routes=[Route("/v1/chat/completions", made.respond, methods=["POST"])])
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    server = _Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        work = asyncio.create_task(server.serve([listener]))
        try:
            yield made
        finally:
            server.should_exit = True
            server.force_exit = True
            await work


class Life:
    """One life of a daemon that may ask a language model, on a journal that outlives it. still: its clock stands."""

    def __init__(self, journal: MemoryJournal, *, still: bool = False, **sections: Any) -> None:
        self.settings = Settings.model_validate({"embedder": {"kind": "none"}, "policy": {"model": "none"}, **sections})
        self.journal, self.measures = journal, RecordedMeasures()
        clock = VirtualClock(NOON_US) if still else SystemClock()
        broker = MemoryBroker(clock.monotonic_s)
        world = assembly.World(MemoryBus(broker), journal, clock, self.measures, assembly.read_parts(self.settings))
        self.daemon = assembly.daemon_on(self.settings, world, assembly._counting("m"))
        self.agent = broker.connect("agent")
        self.agent.subscribe(f"{topics.ROOT}/shop/#")
        self.all_heard: list[tuple[str, bytes]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Life]:
        work = asyncio.create_task(self.daemon.run())
        await self.daemon.ready.wait()
        try:
            yield self
        finally:
            self.daemon.stop()
            await work

    def say(self, channel: str, scope: Scope = RUN, **message: Any) -> None:
        self.agent.publish(topics.of_run(scope, channel), orjson.dumps(message))

    def user(self, text: str, event_id: str, **fields: Any) -> None:
        self.say("event", id=event_id, kind="message", role="user", text=text, **fields)

    async def memory(self):
        return await self.daemon.pipeline.memories.of(RUN)

    async def until(self, found: Callable[[], Any]) -> None:
        await brokers.until(found)

    async def answered(self, count: int) -> None:
        """So many answers were remembered."""
        memory = await self.memory()
        await self.until(lambda: memory.interpretations.count >= count)

    def value(self, name: str, **labels: str) -> float:
        return self.measures.value(f"beforehand_language_model_{name}", **labels)

    @property
    def faults(self) -> dict[str, str]:
        return {fault.part: fault.reason for fault in Health(self.daemon).faults()}

    def _bodies(self, channel: str) -> list[dict[str, Any]]:
        """What came on a channel of the run, newest last."""
        self.all_heard += [(one.topic, one.payload) for one in self.agent.receive()]
        topic = topics.of_run(RUN, channel)
        return [orjson.loads(body) for heard, body in self.all_heard if heard.startswith(topic) and body]

    def final(self) -> dict[str, Any] | None:
        """The newest final packet."""
        return next((body for body in reversed(self._bodies("packet")) if body["final"]), None)

    async def reply(self, **question: Any) -> dict[str, Any]:
        """The answer to a question."""
        before = len(self._bodies("reply"))
        self.say("recall", **question)
        await self.until(lambda: len(self._bodies("reply")) > before)
        return self._bodies("reply")[-1]


def named(url: str, **fields: Any) -> dict[str, Any]:
    """The section of the settings."""
    return {"base_url": url, "model": "tiny", "timeout_s": 10, **fields}


async def kept(journal: MemoryJournal, channel: str = "derived") -> list[Any]:
    """The messages of a channel that the journal has."""
    async with journal.open():
        return [row.entry.message async for page in journal.read() for row in page if row.entry.channel == channel]


def answer_of(scope: Scope = RUN, key: str = "facts:1", received_us: int = NOON_US, **fields: Any) -> Entry:
    """An answer as the journal has it."""
    body = orjson.dumps({"use": "facts", "model": "tiny", "prompt": "facts 1", **fields})
    return codec.restore(
        Address(scope, "derived"), body, key=key, at_us=received_us, received_us=received_us, retained=False
    )
