import itertools

import pytest

from beforehand import limits
from beforehand.context.budget import fit
from beforehand.context.rendering import BRACES_QUARTERS, FRAME_QUARTERS, line_quarters, record_quarters
from beforehand.index.tokens import count_tokens, quarters
from memories import said, value

LONG = "We talked about many things in general. " * 30


def keys(fitted):
    return {item.of.choice.key for item in fitted.items}


def test_the_cost_of_the_parts_is_the_cost_of_the_text():
    choices = [value(f"k{n}", f"value {n}", n // 3) for n in range(12)] + [said("日本語の文", 9)]
    fitted = fit(choices, 8_192)
    lines = {item.shown.prefix for item in fitted.items}
    parts = sum(item.cost for item in fitted.items) + sum(map(line_quarters, lines))
    assert FRAME_QUARTERS + parts == quarters(fitted.rendered)


def test_what_names_a_record_is_paid_once():
    leaves = [said(f"k{n}: {n} (order_id: #W7)", about="order_id: #W7", place=n) for n in range(6)]
    fitted = fit(leaves, 8_192)
    parts = sum(item.cost for item in fitted.items) - 5 * (record_quarters("order_id: #W7") + BRACES_QUARTERS)
    assert FRAME_QUARTERS + line_quarters("[1 user]") + parts == quarters(fitted.rendered)
    assert len(fit(leaves, fitted.tokens).items) == 6


def test_what_fits_is_bought_whole():
    choices = [value(f"k{n}", str(n), n) for n in range(5)]
    fitted = fit(choices, 100)
    assert len(fitted.items) == 5
    assert fitted.left_out == 0


def test_the_more_worthy_of_two_equal_costs_is_bought():
    fitted = fit([value("aa", "11", 1, probability=0.4), value("bb", "22", 2, probability=0.6)], 20)
    assert keys(fitted) == {"bb"}
    assert fitted.left_out == 1


def test_worth_decides_where_it_is_given():
    choices = [value("aa", "11", 1, probability=0.9, worth=0.1), value("bb", "22", 2, probability=0.2, worth=0.5)]
    assert keys(fit(choices, 20)) == {"bb"}


def test_values_that_share_a_line_are_bought_before_a_dearer_one_alone():
    together = [value(f"k{n}", "1234", 1, probability=0.3) for n in range(3)]
    alone = value("alone", "1234", 2, probability=0.5)
    assert keys(fit([*together, alone], 28)) == {"k0", "k1", "k2"}


def test_a_bundle_that_does_not_fit_is_bought_in_part():
    together = [value(f"k{n}", "x" * 30, 1, probability=0.9) for n in range(3)]
    assert len(fit(together, 40).items) == 2


def test_a_long_text_is_cut_around_what_matters_and_short_ones_are_bought_too():
    text = f"{LONG}The order is W2378156, please. {LONG}"
    start = text.index("W2378156")
    long = said(text, 2, probability=0.9, keep=((start, start + 8),))
    others = [value(f"k{n}", str(n), n + 3) for n in range(5)]
    fitted = fit([long, *others], 120)
    assert len(fitted.items) == 6
    assert "order is W2378156, please" in fitted.rendered


def test_a_long_text_is_whole_where_there_is_room():
    text = LONG[:800].strip()
    assert text in fit([said(text, probability=0.9)], 400).rendered


def test_the_bounds_of_a_packet_hold_whatever_the_budget():
    many = [said(f"{n} {LONG * 2}", n) for n in range(90)]
    fitted = fit(many, 10**9)
    assert len(fitted.items) <= limits.PACKET_ITEMS
    assert all(len(item.shown.text) <= limits.ITEM_CHARS for item in fitted.items)
    assert fitted.left_out == 90 - len(fitted.items)


def test_the_order_of_the_choices_does_not_matter():
    choices = [value("a", "1", 1), value("b", "2", 1), said("c", 3), said(LONG, 2)]
    assert len({fit(order, 60).rendered for order in itertools.permutations(choices)}) == 1


def test_a_text_of_nothing_visible_is_not_bought():
    fitted = fit([said("\u200b\n", 1)], 100)
    assert fitted.rendered == ""
    assert fitted.tokens == 0


@pytest.mark.parametrize("budget", [0, 1, 13, -1, -(10**9)])
def test_a_budget_below_the_wrapper_buys_nothing(budget):
    assert fit([value("a", "1")], budget).rendered == ""


def test_the_smallest_packet_is_bought_by_exactly_its_cost():
    choices = [value("a", "1")]
    cost = count_tokens(fit(choices, 100).rendered)
    assert fit(choices, cost).tokens == cost
    assert fit(choices, cost - 1).tokens == 0


def variants(count=3, **more):
    """Ids of a list, each with what tells it apart."""
    sizes = "SML"
    return [
        said(f"item_id: 11{n}", about=f"item_id: 11{n}", place=n, beside=(f"size: {sizes[n % 3]}",), **more)
        for n in range(count)
    ]


def test_ids_of_a_list_are_told_apart_where_there_is_room():
    fitted = fit(variants(), 8_192)
    assert fitted.rendered.split("\n")[1] == (
        "[1 user] item_id: 110 {size: S}; item_id: 111 {size: M}; item_id: 112 {size: L}"
    )
    assert fitted.items[0].text == "item_id: 110 (size: S)"
    parts = sum(item.cost for item in fitted.items)
    assert FRAME_QUARTERS + line_quarters("[1 user]") + parts == quarters(fitted.rendered)


def test_what_tells_ids_apart_takes_no_room_of_anything_that_was_chosen():
    others = [value(f"k{n}", f"value {n}", 2, probability=0.01) for n in range(9)]
    bare = [choice._replace(beside=()) for choice in variants(probability=0.9)]
    for budget in range(13, 90):
        with_beside, without = fit([*variants(probability=0.9), *others], budget), fit([*bare, *others], budget)
        assert [item.of.id for item in with_beside.items] == [item.of.id for item in without.items]
        assert with_beside.tokens <= budget


def test_what_tells_an_id_apart_is_not_said_twice():
    [first, *_] = variants()
    size = said("size: S (item_id: 110)", about="item_id: 110", place=9)
    assert "item_id: 110 {size: S}" in fit([first, size], 8_192).rendered
    first = first._replace(beside=("size: S", "color: red"))
    assert "item_id: 110 {color: red; size: S}" in fit([first, size], 8_192).rendered


def test_what_the_user_speaks_of_is_told_apart_first():
    wanted = said("One in L, please.", 2, probability=0.9)
    whole = fit([*variants(tool="get", authority="tool"), wanted], 8_192)
    short = fit([*variants(tool="get", authority="tool"), wanted], whole.tokens - 4)
    assert "item_id: 112 {size: L}" in short.rendered
    assert "size: S" not in short.rendered


def test_at_the_bound_of_items_the_most_worthy_stay_though_others_are_denser():
    cheap = [value(f"k{n}", str(n), probability=0.2) for n in range(limits.PACKET_ITEMS + 20)]
    dear = said("What matters takes more words than a number does. " * 4, 2, probability=0.9)
    fitted = fit([*cheap, dear], 8_192)
    assert len(fitted.items) == limits.PACKET_ITEMS
    assert dear.text.strip() in fitted.rendered


def test_at_the_bound_of_items_what_is_worth_more_in_all_is_bought():
    dense = [value(f"k{n}", str(n), 1, probability=0.2) for n in range(limits.PACKET_ITEMS)]
    dear = [said(f"{n} {'and so on ' * 20}", n + 2, probability=0.3) for n in range(limits.PACKET_ITEMS)]
    fitted = fit([*dense, *dear], fit(dense, 8_192).tokens)
    assert {item.of.choice for item in fitted.items} == set(dense)
