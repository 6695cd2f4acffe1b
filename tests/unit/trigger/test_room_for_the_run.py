"""What an agent of many runs finds elsewhere leaves room for the run that it is in."""

import pytest

from beforehand import limits
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Found
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


def gathered(memory: AgentMemory, found: int) -> Candidates:
    """The candidates of a step of the run `now`, when the first `found` events were found."""
    session = memory.session("now")
    moment = Moment.of(memory, session, Step("s", goal="cancel order", needs=("order_id",)))
    finds = [("core/rule", 0.9, Found(row, 0, "exact", rank, 1.0)) for rank, row in enumerate(range(found))]
    pool = Pool(moment, memory.timeline.last(500, run=session.code), {find.row for _, _, find in finds})
    return gather(moment, finds, pool)


@pytest.mark.parametrize("own", [1, 20, 64])
def test_what_was_found_elsewhere_does_not_crowd_out_the_run(own: int):
    candidates = gathered(remembered(200, own), found=200)
    assert len(candidates) == limits.CANDIDATES
    assert sum(event.run == "now" for event in candidates.events) == own


def test_the_run_does_not_crowd_out_what_was_found():
    candidates = gathered(remembered(200, 300), found=100)
    mine = sum(event.run == "now" for event in candidates.events)
    assert len(candidates) == limits.CANDIDATES
    assert mine == limits.CANDIDATES // 2
    assert all(
        claim == 0.9
        for index, event in enumerate(candidates.events)
        if event.run == "past"
        for claim in candidates.asked()[index].values()
    )


def test_a_claim_stays_with_the_passage_that_it_was_made_for():
    candidates = gathered(remembered(5, 3), found=2)
    asked = {candidates.passage(index).text: rules for index, rules in enumerate(candidates.asked()) if rules}
    assert {text.partition(" (")[0] for text in asked} == {"order_id: W0", "order_id: W1"}
