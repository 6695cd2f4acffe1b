import pytest

from beforehand.trigger.mutation import CHANGES, NOUNS_TOO, READS, mutates


@pytest.mark.parametrize(
    "tool",
    [
        "book_flight",
        "cancelOrder",
        "Banks_2.TransferMoney",
        "mcp__mail__send_message",
        "modify_pending_order_items",
        "returnDeliveredOrderItems",
        "rm",
        "DELETE_ROW",
        "order_food",
        "find_and_delete",
        "get_or_create_user",
    ],
)
def test_a_tool_whose_verb_changes_something_mutates(tool):
    assert mutates(tool)


@pytest.mark.parametrize(
    "tool",
    [
        "get_order_details",
        "searchFlights",
        "Hotels_4.SearchHotel",
        "check_transfer_status",
        "list_create_requests",
        "calculate",
        "order_search",
        "booking_lookup",
        "getURLById",
        "frobnicate",
        "",
        "...",
        "__",
    ],
)
def test_a_tool_that_looks_or_says_nothing_does_not_mutate(tool):
    assert not mutates(tool)


def test_what_the_plan_says_wins_over_the_name():
    assert mutates("get_order", explicit=True)
    assert not mutates("cancel_order", explicit=False)


def test_without_a_tool_the_first_word_of_the_goal_decides():
    assert mutates("", "Cancel the second order")
    assert not mutates("", "See whether to cancel the order")
    assert not mutates("get_order", "Cancel the order"), "a tool that is named is believed before the goal"


def test_no_verb_is_on_two_lists_that_decide_differently():
    assert not READS & CHANGES
    assert not READS & NOUNS_TOO
