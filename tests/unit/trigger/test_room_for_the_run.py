"""What an agent of many runs finds elsewhere leaves room for the run that it is in."""

import pytest

from beforehand import limits
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Channel, Found
from beforehand.memory.steps import Step
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.trigger.candidates import Candidates, gather
from beforehand.trigger.moment import Moment
from beforehand.trigger.pool import Pool


def remembered(past: int, own: int) -> AgentMemory:
    """Past runs with orders such as the step needs, and small talk in the run itself."""
    memory = AgentMemory("t", "a")
    told = [("past", {"kind": "observation", "role": "tool", "data": {"order_id": f"W{n}"}}) for n in range(past)]
    told += [("now", {"kind": "message", "role": "agent", "text": f"story number {n}"}) for n in range(own)]
    for number, (run, event) in enumerate(told):
        body = codec.orjson.dumps({**event, "id": f"e{number}"})
        address = Address(Scope("t", "a", run), "event")
        memory.take(codec.read(address, body, received_us=number, arrival_id="unused"))
    return memory


def gathered(memory: AgentMemory, found: int, channel: Channel = "exact") -> Candidates:
    """The candidates of a step of the run `now`, when a rule found the first `found` events."""
    session = memory.session("now")
    moment = Moment.of(memory, session, Step("s", goal="cancel order", needs=("order_id",)))
    finds = [("core/rule", 0.9, Found(row, 0, channel, rank, 1.0)) for rank, row in enumerate(range(found))]
    pool = Pool(moment, memory.timeline.last(500, run=session.code), {find.row for _, _, find in finds})
    return gather(moment, finds, pool)


@pytest.mark.parametrize("own", [1, 20, 64, 300])
def test_what_is_alike_elsewhere_is_an_eighth_and_leaves_the_rest_to_the_run(own: int):
    candidates = gathered(remembered(200, own), found=200)
    elsewhere = limits.CANDIDATES // 8
    mine = sum(event.run == "now" for event in candidates.events)
    assert mine == min(own, limits.CANDIDATES - elsewhere)
    assert len(candidates) == mine + elsewhere
    past = [candidates.asked(index) for index, event in enumerate(candidates.events) if event.run == "past"]
    assert past == [{"core/rule": 0.9}] * elsewhere


@pytest.mark.parametrize("channel", ["facts", "timeline"])
def test_what_a_rule_filters_out_of_other_runs_is_left_to_it(channel: Channel):
    candidates = gathered(remembered(200, 20), found=50, channel=channel)
    assert sum(event.run == "past" for event in candidates.events) >= 50


def test_a_claim_stays_with_the_passage_that_it_was_made_for():
    candidates = gathered(remembered(5, 3), found=2)
    asked = {candidates.passage(index).text for index in range(len(candidates)) if candidates.asked(index)}
    assert {text.partition(" (")[0] for text in asked} == {"order_id: W0", "order_id: W1"}
