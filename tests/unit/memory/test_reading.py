from beforehand.index.withholding import Withheld
from beforehand.memory.agent import AgentMemory
from beforehand.memory.reading import Reading
from beforehand.messages.topics import Scope
from journal_samples import entry

RUN = Scope("t", "a", "r")
CALL = {
    "kind": "action",
    "tool": "send",
    "text": "sent to ana@example.org",
    "data": {"to": "ana@example.org"},
    "args": {"to": "ana@example.org", "password": "hunter2"},
    "facts": [{"subject": "ana@example.org", "attribute": "password", "value": "hunter2"}],
}


def everything(memory: AgentMemory) -> str:
    """All that is remembered of the run, as text."""
    memory.flows.runs.of(RUN.run).trail(RUN.run, "", success=True)
    calls = memory.flows.runs.of(RUN.run).calls
    claims = [claim for record in memory.facts.records() for claim in record.claims]
    return f"{memory.events} {calls} {claims}"


def test_what_is_withheld_is_in_no_part_of_memory():
    memory = AgentMemory("t", "a", reading=Reading(withheld=Withheld(personal=("email",))))
    memory.take(entry("e1", RUN, **CALL))
    assert "hunter2" not in everything(memory)
    assert "example" not in everything(memory)
    assert "sent to [redacted]" in everything(memory)


def test_without_a_choice_secrets_alone_go():
    memory = AgentMemory("t", "a")
    memory.take(entry("e1", RUN, **CALL))
    assert "hunter2" not in everything(memory)
    assert "ana@example.org" in everything(memory)


def test_a_message_without_anything_to_withhold_is_read_as_it_came():
    plain = entry("e1", RUN, kind="note", text="the order goes to box 13", data={"box": [13]})
    assert Reading().screened(plain) is plain


def test_what_was_taken_out_has_no_source_among_other_things_that_were():
    memory = AgentMemory("t", "a")
    memory.take(entry("e0", RUN, kind="observation", tool="login", text="token: abc123xyz"))
    memory.take(entry("e1", RUN, **CALL))
    memory.flows.runs.of(RUN.run).trail(RUN.run, "", success=True)
    [call] = memory.flows.runs.of(RUN.run).calls
    assert {one.name: one.source for one in call.args} == {"to": None, "password": None}
