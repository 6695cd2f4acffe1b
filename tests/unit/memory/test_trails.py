"""A run is read call by call: what each was given, where that came from, and whether it failed."""

from __future__ import annotations

from beforehand import limits
from beforehand.memory.trails import Argument, Doing, Runs
from beforehand.messages.inbound import Event


def event(kind, **fields):
    return Event.model_validate({"kind": kind, **fields})


def done(*events, orders=None):
    doing = Doing()
    for number, one in enumerate(events):
        doing.happened(one, f"e{number}", None if orders is None else orders[number])
    return doing.trail("r", "t", success=True)


def test_a_value_comes_from_the_newest_that_said_it_before():
    trail = done(
        event("message", role="user", text="refund W777 please"),
        event("observation", tool="find", data={"order": "W777", "card": "visa-1"}),
        event("action", tool="refund", args={"order": "W777", "card": "visa-1", "note": "new", "n": 1}),
    )
    [call] = trail.calls
    assert call.args == (
        Argument("order", "W777", "find"),
        Argument("card", "visa-1", "find"),
        Argument("note", "new", None),
        Argument("n", "1", None),
    )


def test_a_call_failed_when_its_own_result_did():
    trail = done(
        event("action", tool="refund"),
        event("observation", tool="refund", ok=False, text="Error:  card\nexpired"),
        event("action", tool="close"),
        event("observation", tool="close", ok=True),
        event("observation", tool="refund", ok=False, text="late"),
    )
    assert [call.problem for call in trail.calls] == ["Error: card expired", None]


def test_counted_events_are_read_in_the_order_in_which_they_were_sent():
    calls = [event("action", tool=tool) for tool in ("c", "a", "b")]
    assert done(*calls, orders=[(0, 3), (0, 1), (0, 2)]).tools == ("a", "b", "c")


def test_steps_stand_for_calls_where_no_action_is_told():
    doing = Doing()
    for tool in ("find", "find", None, "refund"):
        doing.stepped(tool)
    assert doing.trail("r", "t", success=True).tools == ("find", "refund")


def test_what_the_system_does_is_no_call_of_the_agent():
    trail = done(event("action", tool="purge", source="system"), event("action", tool="find", role="agent"))
    assert trail.tools == ("find",)


def test_the_trail_takes_the_lowest_authority_of_its_calls():
    assert done(event("action", tool="a", role="agent"), event("action", tool="b", role="user")).authority == "agent"
    assert done(event("action", tool="a", role="agent"), event("action", tool="b")).authority == "unknown"


def test_a_run_that_goes_on_keeps_what_it_did():
    doing = Doing()
    doing.happened(event("action", tool="find"), "e1", None)
    assert doing.trail("r", "t", success=True).tools == ("find",)
    doing.happened(event("action", tool="refund"), "e2", None)
    assert doing.trail("r", "t", success=True).tools == ("find", "refund")


def test_runs_under_way_and_their_events_are_bounded():
    runs = Runs()
    for number in range(limits.TRAIL_RUNS + 1):
        runs.of(f"r{number}")
    assert runs.known("r0") is None
    doing = runs.of("long")
    for number in range(limits.TRAIL_EVENTS + 10):
        doing.happened(event("action", tool="look"), f"e{number}", None)
    assert len(doing.trail("long", "t", success=True).calls) == limits.TRAIL_EVENTS
