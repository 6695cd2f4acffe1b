"""Seeds of the daemon with a language model that fails, lies and is late, while the daemon crashes and the disk fails.

What it answered is remembered as a replay remembers it, everything is read in the end, and nothing twice.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from random import Random

import orjson
import pytest
import structlog

from beforehand import assembly, limits
from beforehand.errors import LanguageModelError
from beforehand.pipeline.allowance import Allowance
from beforehand.pipeline.interpreting import Interpreting
from beforehand.ports.language_model import Completion
from simulation import simulated
from simulation.agents import Agent
from simulation.simulated import SETTINGS, Simulation

SEEDS = 40


class Talker(Agent):
    """An agent whose user talks, too: each time of another town."""

    def act(self):
        if self._chance.random() < 0.5:
            text = f"You find me in Town{self.scope.agent}x{len(self.said)} from now on."
            self.say("event", kind="message", role="user", text=text)
        else:
            super().act()


class Model:
    """Fails, says rubbish, invents, or reads the town. asked: told what it is asked, before anything else."""

    name = "simulated"
    answer_tokens = 100

    def __init__(self, chance, asked):
        self.chance, self.asked = chance, asked

    @asynccontextmanager
    async def open(self):
        yield

    async def complete(self, instructions, data):
        text = orjson.loads(data).get("text", "")
        self.asked(text)
        await asyncio.sleep(self.chance.uniform(0, 2))
        drawn = self.chance.random()
        if drawn < 0.3:
            raise LanguageModelError("away.", passing=drawn < 0.25, billed=drawn < 0.1)
        quote = "" if drawn < 0.4 else text[4:]
        value = next(iter(text.split()[4:]), "")
        found = {"facts": [{"sort": "home", "value": value, "quote": quote}]}
        return Completion("rubbish" if drawn < 0.5 else orjson.dumps(found).decode(), 50)


class Interpreted(Simulation):
    """The daemon with a language model. again: what was asked though the journal had an answer."""

    def __init__(self, seed, parts):
        super().__init__(seed, parts)
        self.again = []

    def _start(self):
        self.agent_events = limits.AGENT_EVENTS  # what is cold is not read
        super()._start()
        model = Model(Random(f"{self.seed} {self.boots}"), self._asked)
        uses = frozenset({"facts", "summary"})
        self.daemon.interpreting = Interpreting(model, self.daemon.pipeline, self.rows, uses, Allowance(10**9), 2)

    def _stored(self):
        return {place: count for place, count in super()._stored().items() if place[1] is not None}

    def _asked(self, text):
        if text in self._texts("answered"):
            self.again.append(text)

    def _texts(self, which):
        """Of all that users said, or of what was answered, as the journal has it."""
        entries = [row.entry for row in self.rows._rows]
        said = {(one.scope, one.id): one.message.text for one in entries if getattr(one.message, "role", "") == "user"}
        if which == "said":
            return set(said.values())
        answers = [one for one in entries if one.channel == "derived" and one.message.use == "facts"]
        return {said[one.scope, source] for one in answers for source in one.message.sources}

    async def _at_the_end(self):
        await self._settled()
        await super()._at_the_end()

    async def _settled(self):
        """Until everything was answered; what a request was refused for is found again by the next process."""
        for _ in range(20):
            for agent in self.agents:
                agent.say("event", kind="note", text="still there")
            await self._heal()
            waiting = self.daemon.interpreting
            while waiting._new or waiting._waiting or waiting._asking:
                await asyncio.sleep(1)
            if self._texts("answered") == self._texts("said"):
                return
            self._die()
            await self._start_again()
        raise AssertionError(self._texts("said") - self._texts("answered"))


@pytest.fixture(scope="module")
def parts():
    return assembly.read_parts(SETTINGS)


@pytest.fixture(autouse=True)
def talking(monkeypatch):
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    monkeypatch.setattr(simulated, "Agent", Talker)
    yield
    structlog.reset_defaults()


def test_every_seed_ends_with_everything_read_once_and_remembered_as_a_replay_remembers_it(parts):
    read = 0
    for seed in range(SEEDS):
        simulation = Interpreted(seed, parts)
        try:
            simulation.play()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {simulation.trace}") from error
        assert simulation.again == []
        assert simulation.measures.value("beforehand_language_model_failures_total", reason="defect") == 0
        read += len(simulation._texts("answered"))
    assert read > SEEDS


def _asked_again(parts):
    """Whether in one of some seeds something is asked though it was answered."""
    for seed in range(60):
        simulation = Interpreted(seed, parts)
        simulation.play()
        if simulation.again:
            return True
    return False


def test_a_daemon_that_forgets_what_was_answered_is_found(parts, monkeypatch):
    monkeypatch.setattr("beforehand.memory.interpretations.Interpretations.has_read", lambda self, run, event: False)
    assert _asked_again(parts)
