"""What was said is not said again within a rule's cooldown."""

from __future__ import annotations

from beforehand.messages.outbound import Item, Packet, Watermark
from beforehand.messages.values import moment
from beforehand.pipeline.runbook import Runbook
from beforehand.trigger.packs import read
from stage import RUN

SECOND_US = 1_000_000


def rule(**cooldown):
    fields = "".join(f"    {name}: {value}\n" for name, value in cooldown.items())
    head = "name: p\nversion: 1\ndescription: x\nrules:\n"
    body = "  - name: r\n    description: x\n    when: 'true'\n    message: a\n"
    return read(head + body + fields, "p").rules[0]


def packet(step, *items, version=1, final=True, at_us=0, plan_revision=1):
    said = [Item(id=item, kind="event", text=item, probability=1.0, tokens=1) for item in items]
    return Packet(
        id=f"{step}.{version}",
        tenant=RUN.tenant,
        agent=RUN.agent,
        run=RUN.run,
        step=step,
        version=version,
        final=final,
        plan_revision=plan_revision,
        status="ready",
        created_at=moment(at_us),
        expires_at=moment(at_us),
        items=said,
        watermark=Watermark(event=None, position=1),
        budget_tokens=9,
        searched=0,
        policy="p",
    )


def within(book, step, now_us=0, **cooldown):
    return book.within("m_1", rule(**cooldown), step, now_us)


def test_an_item_is_held_back_for_as_many_steps_as_its_rule_says():
    book = Runbook.of([packet("s1", "m_1")])
    assert within(book, "s2", cooldown_steps=2)
    book.sent(packet("s2"))
    assert within(book, "s3", cooldown_steps=2)
    book.sent(packet("s3"))
    assert not within(book, "s4", cooldown_steps=2)


def test_without_a_cooldown_nothing_is_held_back():
    assert not within(Runbook.of([packet("s1", "m_1")]), "s2")


def test_a_packet_that_is_built_again_for_its_step_says_the_same():
    assert not within(Runbook.of([packet("s1", "m_1")]), "s1", cooldown_steps=3)


def test_what_was_only_prepared_was_not_said():
    assert not within(Runbook.of([packet("s1", "m_1", final=False)]), "s2", cooldown_steps=3)


def test_a_cooldown_in_seconds_ends_when_they_are_over():
    book = Runbook.of([packet("s1", "m_1", at_us=0)])
    assert within(book, "s2", 59 * SECOND_US, cooldown_s=60)
    assert not within(book, "s2", 60 * SECOND_US, cooldown_s=60)


def test_a_clock_that_goes_back_holds_nothing_back():
    book = Runbook.of([packet("s1", "m_1", at_us=1_000 * SECOND_US)])
    assert not within(book, "s2", 10 * SECOND_US, cooldown_s=60)


def test_versions_go_on_after_the_step_ended_and_over_a_restart():
    book = Runbook.of([packet("s1", version=1, final=False), packet("s1", version=2)])
    assert book.has_final("s1")
    book.closed("s1")
    assert book.next_version("s1") == 3
    assert not book.has_final("s1")
    assert book.next_version("new") == 1


def test_a_packet_made_without_a_plan_is_known_as_such():
    book = Runbook.of([packet("s1", plan_revision=None), packet("s2")])
    assert book.made_without_plan("s1")
    assert not book.made_without_plan("s2")
