import pytest

from beforehand import limits
from beforehand.trigger.packs import read
from beforehand.trigger.rules import Firings, Recall, fire
from beforehand.trigger.situation import RecentEvent, StepView, situation

SECOND_US = 1_000_000


def pack(*rules, name="p", vocabulary="{}"):
    text = f"name: {name}\nversion: 1\ndescription: x\nvocabulary: {vocabulary}\nrules:\n"
    return read(text + "".join(f"  - {{name: r{at}, description: x, {rule}}}\n" for at, rule in enumerate(rules)), "p")


def at_step(ordinal=1, **step):
    return situation(StepView(id=f"s{ordinal}", ordinal=ordinal, **step))


def fired(verdict):
    return [each.rule.name for each in verdict.firings]


def run(packs, ordinals, seconds=None):
    """Which of the steps the first rule fires for, one after another."""
    past, said = Firings(), []
    for at, ordinal in enumerate(ordinals):
        now_us = (seconds[at] if seconds else 0) * SECOND_US
        verdict = fire(packs, at_step(ordinal), past, now_us)
        past = past.noted(verdict, ordinal, now_us)
        said.append(bool(verdict.firings))
    return said


def test_a_rule_fires_when_its_condition_holds():
    packs = [pack("when: step.mutates, message: Careful", "when: '!step.mutates', message: Easy")]
    assert fired(fire(packs, at_step(mutates=True), Firings(), 0)) == ["p/r0"]
    assert fired(fire(packs, at_step(), Firings(), 0)) == ["p/r1"]


def test_questions_come_out_with_the_situation_filled_in():
    packs = [
        pack(
            "when: 'true', weight: 0.8, message: 'Mind {step.tool}', recall: ["
            "{channel: exact, keys: ['{step.needs}', order]}, "
            "{channel: hybrid, k: 3, roles: [user]}, "
            "{channel: timeline, tools: ['{step.tool}'], ok: false, window: {last: 4}}]"
        )
    ]
    (firing,) = fire(packs, at_step(goal="Pay", tool="pay", needs=("card", "order")), Firings(), 0).firings
    assert (firing.score, firing.warning) == (0.8, "Mind pay")
    assert firing.recalls == (
        Recall("exact", keys=("card", "order")),
        Recall("hybrid", query="Pay pay card order", roles=("user",), k=3),
        Recall("timeline", tools=("pay",), ok=False, last=4),
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
    verdict = fire([pack(f"when: 'true', recall: [{recall}]")], at_step(), Firings(), 0)
    assert verdict.firings == ()
    both = fire(
        [pack(f"when: 'true', recall: [{recall}, {{channel: window, window: {{last: 2}}}}]")], at_step(), Firings(), 0
    )
    assert [recall.channel for recall in both.firings[0].recalls] == ["window"]


def test_a_rule_with_a_message_fires_even_when_it_asks_nothing():
    verdict = fire([pack("when: 'true', message: Hm, recall: [{channel: lexical}]")], at_step(), Firings(), 0)
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
    assert fired(fire(packs, at_step(), Firings(), 0)) == ["p/r1", "a/r0", "p/r0", "p/r2"]


def test_topics_are_those_of_the_rule_s_own_pack():
    one = pack("when: '\"x\" in topics', message: a", vocabulary="{x: [book]}", name="one")
    two = pack("when: '\"x\" in topics', message: a", vocabulary="{x: [pay]}", name="two")
    assert fired(fire([one, two], at_step(goal="Book it"), Firings(), 0)) == ["one/r0"]
    assert fired(fire([one, two], at_step(tool="payNow"), Firings(), 0)) == ["two/r0"]
    assert fired(fire([one, two], at_step(needs=("pay", "book")), Firings(), 0)) == ["one/r0", "two/r0"]


def test_a_condition_that_fails_is_reported_and_stops_no_other():
    broken = "when: 'size(recent) == 1 && recent[5].ok == true', message: a"
    packs = [pack(broken, "when: 'true', message: b")]
    here = situation(StepView(), recent=(RecentEvent("note", "x"),))
    verdict = fire(packs, here, Firings(), 0)
    assert fired(verdict) == ["p/r1"]
    assert [(each.rule, "out of bounds" in each.problem) for each in verdict.faults] == [("p/r0", True)]


def test_no_packs_no_firings():
    assert fire([], at_step(), Firings(), 0).firings == ()


def test_after_it_fired_a_rule_is_silent_for_as_many_steps_as_it_says():
    packs = [pack("when: 'true', message: a, cooldown_steps: 2")]
    assert run(packs, [1, 2, 3, 4, 5]) == [True, False, False, True, False]


def test_without_a_cooldown_a_rule_fires_at_every_step():
    packs = [pack("when: 'true', message: a")]
    assert run(packs, [1, 2, 3]) == [True] * 3
    verdict = fire(packs, at_step(), Firings(), 0)
    assert Firings().noted(verdict, 1, 0) == Firings(), "and nothing is kept for it"


def test_a_packet_that_is_built_again_for_a_step_says_the_same():
    packs = [pack("when: 'true', message: a, cooldown_steps: 3, cooldown_s: 60")]
    assert run(packs, [1, 1, 1]) == [True] * 3


def test_a_step_that_was_prepared_ahead_does_not_silence_an_earlier_one():
    packs = [pack("when: step.ordinal > 0, message: a, cooldown_steps: 2")]
    assert run(packs, [2, 1, 2]) == [True, True, False]


def test_preparing_two_steps_ahead_gives_the_same_as_going_step_by_step():
    packs = [pack("when: 'true', message: a, cooldown_steps: 2")]
    assert run(packs, [1, 2, 3, 2, 3, 4, 3, 4, 5]) == [True, False, False, False, False, True, False, True, False]


def test_a_cooldown_in_seconds_counts_from_the_first_firing_for_an_earlier_step():
    packs = [pack("when: 'true', message: a, cooldown_s: 60")]
    assert run(packs, [1, 1, 2, 2, 2], [0, 50, 59, 60, 61]) == [True, True, False, True, True]


def test_a_clock_that_goes_back_silences_nothing():
    packs = [pack("when: 'true', message: a, cooldown_s: 60")]
    assert run(packs, [1, 2], [1_000, 10]) == [True, True]


def test_a_rule_that_no_longer_fires_for_a_step_does_not_silence_the_next():
    packs = [pack("when: step.mutates, message: a, cooldown_steps: 5")]
    past = Firings().noted(fire(packs, at_step(1, mutates=True), Firings(), 0), 1, 0)
    assert fire(packs, at_step(2, mutates=True), past, 0).held == ("p/r0",)
    past = past.noted(fire(packs, at_step(1), past, 0), 1, 0)
    assert fired(fire(packs, at_step(2, mutates=True), past, 0)) == ["p/r0"]


def test_what_is_remembered_of_a_run_is_bounded_and_never_changed_in_place():
    packs = [pack("when: 'true', message: a, cooldown_steps: 1")]
    past = Firings()
    for ordinal in range(1, 200):
        before = past
        kept = {rule: dict(steps) for rule, steps in before.by_rule.items()}
        past = past.noted(fire(packs, at_step(ordinal), past, 0), ordinal, 0)
        assert before.by_rule == kept
    assert len(past.by_rule["p/r0"]) == limits.FIRINGS_PER_RULE
    assert run(packs, range(1, 6)) == [True, False, True, False, True]
