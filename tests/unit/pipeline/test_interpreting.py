"""Whom a language model has met is bounded, however many agents there ever are."""

from __future__ import annotations

from beforehand import limits
from beforehand.index.columns import NONE
from beforehand.memory.session import Session
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.pipeline.allowance import Allowance
from beforehand.pipeline.interpreting import Interpreting
from beforehand.pipeline.outcomes import Outcome
from language_models import Answer, MemoryModel


def outcome(agent):
    scope = Scope("shop", agent, "r1")
    entry = codec.read(Address(scope, "event"), b'{"kind": "note", "text": "x"}', received_us=1, arrival_id="m")
    return Outcome(entry, Session(scope, NONE), 1)


def interpreting():
    """Asks nothing: nobody runs it."""
    return Interpreting(MemoryModel(Answer("")), None, None, frozenset(), Allowance(1), 1)


def test_agents_that_were_met_are_bounded_and_so_is_whom_to_look_back_on(monkeypatch):
    monkeypatch.setattr(limits, "MET_AGENTS", 3)
    made = interpreting()
    made.notice([outcome(f"a{number}") for number in range(50)])
    assert [agent for _, agent in made._met] == [agent for _, agent in made._new] == ["a47", "a48", "a49"]


def test_who_is_heard_of_least_recently_goes_and_is_looked_back_on_when_it_is_met_again(monkeypatch):
    monkeypatch.setattr(limits, "MET_AGENTS", 2)
    made = interpreting()
    made.notice([outcome("a"), outcome("b")])
    made._new.clear()  # they were looked back on
    made.notice([outcome("a"), outcome("c"), outcome("a")])
    assert [agent for _, agent in made._new] == ["c"]
    made.notice([outcome("b")])
    assert [agent for _, agent in made._new] == ["b"]
    assert [agent for _, agent in made._met] == ["a", "b"]
