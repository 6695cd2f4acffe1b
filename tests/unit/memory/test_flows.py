"""Workflows are learned from runs that are over, and said only where a run does otherwise."""

from __future__ import annotations

from beforehand.messages.topics import Scope
from stage import staged

STEPS = ("find_order", "check_policy", "refund")


def run_of(number):
    return Scope("shop", "anna", f"past-{number}")


def planned(*tools):
    return [{"id": f"s{number}", "tool": tool, "goal": tool} for number, tool in enumerate(tools, 1)]


async def live(stage, number, *, tools=STEPS, outcome="success", task="refund", failing=None):
    """A run that calls the tools one after another and tells its outcome."""
    scope = run_of(number)
    await stage.plan(*planned(*tools), scope=scope, task_type=task)
    await stage.event(f"please refund order #W{number}00{number}", scope, role="user")
    for step, tool in enumerate(tools, 1):
        await stage.begin(f"s{step}", scope)
        await stage.event("", scope, kind="action", tool=tool, args={"order_id": f"#W{number}00{number}", "lang": "en"})
        ok = tool != failing
        await stage.event("done" if ok else "Error: card expired", scope, kind="observation", tool=tool, ok=ok)
        await stage.say("step", scope, step=f"s{step}", phase="end", ok=ok)
    if outcome is not None:
        await stage.say("feedback", scope, outcome=outcome)


def said(packet):
    return [item.text for item in packet.items if item.kind in ("workflow", "warning")]


def test_a_step_that_runs_used_to_take_before_this_one_and_that_this_plan_leaves_out_is_named():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
        await stage.plan(*planned("find_order", "refund"), task_type="refund")
        [text] = said(await stage.begin("s1"))
        assert text.startswith("check_policy usually comes before refund: in 4 of 4 runs that went well")

    staged(play)


def test_a_plan_that_does_as_runs_do_is_told_nothing():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
        await stage.plan(*planned(*STEPS), task_type="refund")
        for step in ("s1", "s2", "s3"):
            assert said(await stage.begin(step)) == []

    staged(play)


def test_what_is_missing_later_is_said_once_before_and_again_where_it_is_missing():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
        await stage.plan(*planned("find_order", "ask_user", "refund"), task_type="refund")
        told = []
        for step in ("s1", "s2", "s3"):
            told.append(len(said(await stage.begin(step))))
            await stage.say("step", step=step, phase="end", ok=True)
        assert told == [1, 0, 1]

    staged(play)


def test_two_runs_are_no_experience():
    async def play(stage):
        for number in range(2):
            await live(stage, number)
        await stage.plan(*planned("refund"), task_type="refund")
        assert said(await stage.begin("s1")) == []

    staged(play)


def test_runs_that_failed_teach_no_way():
    async def play(stage):
        for number in range(5):
            await live(stage, number, outcome="failure")
        await stage.plan(*planned("refund"), task_type="refund")
        assert said(await stage.begin("s1")) == []

    staged(play)


def test_a_plan_whose_steps_all_ended_well_is_a_success_without_any_feedback():
    async def play(stage):
        for number in range(4):
            await live(stage, number, outcome=None)
        await stage.plan(*planned("find_order", "refund"), task_type="refund")
        assert len(said(await stage.begin("s1"))) == 1

    staged(play)


def test_what_the_agent_says_of_the_outcome_stands_even_if_its_last_step_ends_afterwards():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
            await stage.say("feedback", run_of(number), outcome="failure", id="again")
            await stage.say("step", run_of(number), step="s3", phase="end", ok=True, id="late")
        await stage.plan(*planned("find_order", "refund"), task_type="refund")
        assert said(await stage.begin("s1")) == []

    staged(play)


def test_a_call_that_comes_after_its_run_was_over_is_counted():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
            await stage.event("", run_of(number), kind="action", tool="notify")
        await stage.plan(task_type="refund")
        for tool in STEPS:
            await stage.event("", kind="action", tool=tool)
        [text] = said(await stage.begin("now", tool="refund"))
        assert text.startswith("after refund, notify usually comes: in 4 of 4 runs")

    staged(play)


def test_another_sort_of_task_is_not_judged_by_this_one():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
        await stage.plan(*planned("refund"), task_type="exchange")
        assert said(await stage.begin("s1")) == []

    staged(play)


def test_runs_without_the_step_that_failed_are_counted():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
        for number in range(4, 6):
            await live(stage, number, tools=("find_order", "refund"), outcome="failure")
        await stage.plan(*planned("find_order", "refund"), task_type="refund")
        [text] = said(await stage.begin("s1"))
        assert text.endswith("2 of 2 runs without it failed")

    staged(play)


def test_a_call_that_failed_before_is_warned_of_with_what_came_back():
    async def play(stage):
        for number in range(4):
            await live(stage, number, failing="refund" if number < 2 else None)
        await stage.plan(*planned(*STEPS), task_type="refund")
        assert said(await stage.begin("s1")) == []
        assert said(await stage.begin("s2")) == []
        assert said(await stage.begin("s3")) == ["refund failed in 2 of 4 runs; the last time: Error: card expired"]

    staged(play)


def test_what_comes_next_is_named_where_no_plan_names_it_with_where_its_arguments_came_from():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
        await stage.plan(task_type="refund")
        await stage.event(kind="action", tool="find_order")
        [text] = said(await stage.begin("now", tool="check_policy"))
        expected = (
            "after check_policy, refund usually comes: in 4 of 4 runs that went well; it takes order_id from user"
        )
        assert text == f"{expected}, lang = en"
        assert said(await stage.begin("last", tool="refund")) == []

    staged(play)


def test_workflow_items_keep_to_the_budget():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
        await stage.plan(*planned("find_order", "refund"), task_type="refund")
        packet = await stage.begin("s1")
        assert packet.tokens <= packet.budget_tokens == 30

    staged(play, policy={"budget_tokens": 30})


def test_a_policy_may_do_without_workflows():
    async def play(stage):
        for number in range(4):
            await live(stage, number)
        await stage.plan(*planned("find_order", "refund"), task_type="refund")
        assert said(await stage.begin("s1")) == []

    staged(play, policy={"workflows": False})


def test_a_step_that_tells_no_needs_is_given_what_its_tool_was_given_before():
    async def play(stage):
        await live(stage, 1)
        await stage.event('{"order_id": "#W9009", "colour": "red"}', kind="observation", tool="lookup", ok=True)
        packet = await stage.begin("s1", tool="refund")
        assert "#W9009" in packet.rendered

    staged(play, policy={"model": "none"})


def test_a_secret_among_the_arguments_is_not_learned():
    async def play(stage):
        for number in range(4):
            scope = run_of(number)
            await stage.plan(*planned("login", "refund"), scope=scope, task_type="refund")
            for tool in ("login", "refund"):
                args = {"password": "hunter2hunter2"}
                await stage.event("", scope, kind="action", tool=tool, args=args)
            await stage.say("feedback", scope, outcome="success")
        await stage.plan(task_type="refund")
        packet = await stage.begin("now", tool="login")
        assert any("refund usually comes" in text for text in said(packet))
        assert "hunter2" not in packet.rendered

    staged(play)


def test_runs_whose_last_events_came_late_are_read_again_without_a_fault():
    async def play(stage):
        for number in range(3):
            await live(stage, number)
            await stage.event("the refund arrived", run_of(number), role="user")
        packet = await stage.plan(*planned(*STEPS), task_type="refund")
        assert packet
        assert stage.measures.value("beforehand_failures_total", part="memory") == 0

    staged(play)
