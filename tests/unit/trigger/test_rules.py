from dataclasses import replace

import pytest

from beforehand.memory.recall import Recall
from beforehand.trigger.packs import read
from beforehand.trigger.rules import fire
from beforehand.trigger.situation import FactView, RecentEvent, StepView, situation

FACT = FactView("ana", "address", "Elm Road 5")


def pack(*rules, name="p", vocabulary="{}"):
    text = f"name: {name}\nversion: 1\ndescription: x\nvocabulary: {vocabulary}\nrules:\n"
    return read(text + "".join(f"  - {{name: r{at}, description: x, {rule}}}\n" for at, rule in enumerate(rules)), "p")


def at_step(ordinal=1, **step):
    return situation(StepView(id=f"s{ordinal}", ordinal=ordinal, **step))


def fired(verdict):
    return [each.rule.name for each in verdict.firings]


def test_a_rule_fires_when_its_condition_holds():
    packs = [pack("when: step.mutates, message: Careful", "when: '!step.mutates', message: Easy")]
    assert fired(fire(packs, at_step(mutates=True))) == ["p/r0"]
    assert fired(fire(packs, at_step())) == ["p/r1"]


def test_questions_come_out_with_the_situation_filled_in():
    packs = [
        pack(
            "when: 'true', weight: 0.8, message: 'Mind {step.tool}', recall: ["
            "{channel: exact, keys: ['{step.needs}', order]}, "
            "{channel: hybrid, k: 3, roles: [user]}, "
            "{channel: timeline, tools: ['{step.tool}'], ok: false, window: {last: 4}}]"
        )
    ]
    (firing,) = fire(packs, at_step(goal="Pay", tool="pay", needs=("card", "order"))).firings
    assert (firing.score, firing.warning) == (0.8, "Mind pay")
    assert firing.recalls == (
        Recall("exact", needs=("card", "order"), k=8),
        Recall("hybrid", query="Pay pay card order", roles=frozenset({"user"}), k=3),
        Recall("timeline", tools=frozenset({"pay"}), ok=False, last=4, k=8),
    )


@pytest.mark.parametrize(
    "recall",
    [
        "{channel: exact, keys: ['{step.needs}']}",
        "{channel: timeline, tools: ['{step.tool}']}",
        "{channel: facts, tags: ['{step.space}']}",
        "{channel: lexical}",
        "{channel: semantic, query: '{plan.goal}'}",
    ],
)
def test_a_question_that_comes_out_empty_is_not_asked_for_it_would_match_anything(recall):
    verdict = fire([pack(f"when: 'true', recall: [{recall}]")], at_step())
    assert verdict.firings == ()
    both = fire([pack(f"when: 'true', recall: [{recall}, {{channel: window, window: {{last: 2}}}}]")], at_step())
    assert [recall.channel for recall in both.firings[0].recalls] == ["window"]


def test_a_rule_with_a_message_fires_even_when_it_asks_nothing():
    verdict = fire([pack("when: 'true', message: Hm, recall: [{channel: lexical}]")], at_step())
    assert [(each.warning, each.recalls) for each in verdict.firings] == [("Hm", ())]


def test_the_strongest_come_first_and_equals_by_name():
    packs = [
        pack(
            "when: 'true', message: a, weight: 0.9",
            "when: 'true', message: b, weight: 0.2, priority: 1",
            "when: 'true', message: c, weight: 0.9",
        ),
        pack("when: 'true', message: d, weight: 0.95", name="a"),
    ]
    assert fired(fire(packs, at_step())) == ["p/r1", "a/r0", "p/r0", "p/r2"]


def test_topics_are_those_of_the_rule_s_own_pack():
    one = pack("when: '\"x\" in topics', message: a", vocabulary="{x: [book]}", name="one")
    two = pack("when: '\"x\" in topics', message: a", vocabulary="{x: [pay]}", name="two")
    assert fired(fire([one, two], at_step(goal="Book it"))) == ["one/r0"]
    assert fired(fire([one, two], at_step(tool="payNow"))) == ["two/r0"]
    assert fired(fire([one, two], at_step(needs=("pay", "book")))) == ["one/r0", "two/r0"]


def test_a_condition_that_fails_is_reported_and_stops_no_other():
    broken = "when: 'size(recent) == 1 && recent[5].ok == true', message: a"
    packs = [pack(broken, "when: 'true', message: b")]
    here = situation(StepView(), recent=(RecentEvent("note", "x"),))
    verdict = fire(packs, here)
    assert fired(verdict) == ["p/r1"]
    assert [(each.rule, "out of bounds" in each.problem) for each in verdict.faults] == [("p/r0", True)]


def test_no_packs_no_firings():
    assert fire([], at_step()).firings == ()


def test_facts_are_looked_up_once_and_only_when_a_rule_cannot_do_without_them():
    looks = []

    def look():
        looks.append(1)
        return [FactView("ana", "address", "Elm Road 5", conflict=True)]

    packs = [
        pack(
            "when: 'step.mutates && facts.exists(fact, fact.conflict)', message: 'Look at {fact_names}'",
            "when: 'size(facts) == 1', message: One",
            "when: 'step.tool == \"x\"', message: 'Of {fact_names}'",
        )
    ]
    only_first = [replace(packs[0], rules=packs[0].rules[:1])]
    assert fired(fire(only_first, at_step(), look)) == []
    assert looks == []
    assert [each.warning for each in fire(packs, at_step(mutates=True, tool="x"), look).firings] == [
        "Look at ana address",
        "One",
        "Of ana address",
    ]
    assert looks == [1]


def test_a_message_may_name_facts_that_no_condition_reads():
    (firing,) = fire([pack("when: 'true', message: 'Of {fact_names}'")], at_step(), lambda: [FACT]).firings
    assert firing.warning == "Of ana address"


def test_a_condition_that_fails_on_the_facts_is_reported():
    text = "when: 'facts.exists(f, f.subject == \"ana\" && int(f.value) > 0)', message: x"
    verdict = fire([pack(text)], at_step(), lambda: [FACT])
    assert [fault.rule for fault in verdict.faults] == ["p/r0"]
