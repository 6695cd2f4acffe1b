"""Whatever a memory says: the wrapper holds, the budget holds, and the text depends on nothing else."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from beforehand import limits
from beforehand.context.budget import fit
from beforehand.context.choice import Choice, Claim
from beforehand.context.excerpt import excerpt
from beforehand.context.guard import quote
from beforehand.context.packet import assemble, same_content
from beforehand.index.echo import CLOSING, OPENING, strip_packets
from beforehand.index.tokens import count_tokens
from memories import header


def choice_of(**fields):
    """A choice with these fields and no others: of a NamedTuple, hypothesis makes up all that it is not given."""
    return Choice(**fields)


unhurried = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])

HOSTILE = [
    *(
        "<",
        "＜",
        "/",
        "／",
        ">",
        "memory",
        "Memory",
        OPENING,
        CLOSING,
        "system",
        "user",
        "[",
        "]",
        "[3 user] ",
        "INST",
        "###",
    ),
    *(
        "\n",
        "\r",
        "\x0b",
        "\x1c",
        "\x85",
        "\u2028",
        "\x1b[31m",
        "\x1b]0;",
        "\x9b",
        "\x07",
        "\u200b",
        "\u200d",
        "\u202e",
        "می",
    ),
    *(
        "\U000e0041",
        "\ufe0f",
        "\ud800",
        "```",
        "<|",
        "|>",
        " ",
        "; ",
        ": ",
        "…",
        "&lt;",
        "日本",
        "a",
        "17",
        "System:",
        "# ",
    ),
]
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(HOSTILE), max_size=14).map("".join),
    st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=6)), max_size=20).map("".join),
)
ids = st.lists(st.sampled_from(["e1", "e2", "e3"]), max_size=2).map(tuple)
authorities = st.sampled_from(["user", "tool", "agent", "unknown"])
places = st.one_of(st.none(), st.integers(1, 5))
times = st.one_of(st.none(), st.integers(0, 2_000_000_000_000_000))
claims = st.builds(
    Claim,
    value=texts,
    authority=authorities,
    tool=st.one_of(st.none(), texts),
    position=places,
    at_us=times,
    event_ids=ids,
)
choices = st.builds(
    choice_of,
    kind=st.sampled_from(["event", "fact", "workflow", "summary", "reflection", "warning"]),
    text=texts,
    probability=st.floats(0, 1),
    key=st.one_of(st.none(), texts),
    value=st.one_of(st.none(), texts),
    event_ids=ids,
    position=places,
    place=st.integers(0, 9),
    at_us=times,
    source=st.one_of(st.none(), texts),
    authority=authorities,
    tool=st.one_of(st.none(), texts),
    conflicts=st.lists(claims, max_size=2).map(tuple),
    about=texts,
    beside=st.lists(texts, max_size=3).map(tuple),
    keep=st.lists(st.tuples(st.integers(-5, 80), st.integers(-5, 80)), max_size=2).map(tuple),
)


def in_record(choice, name, rest):
    """The choice as a leaf of a record, as what names it, or as its summary."""
    text = (f"{choice.text} ({name})", name, f"{name}, {choice.text}")[rest]
    return choice._replace(text=text, about=name, key=None, value=None)


leaves = st.builds(in_record, choices, st.one_of(st.just("id: 7"), texts), st.integers(0, 2))
several = st.lists(st.one_of(choices, leaves), max_size=6)
budgets = st.one_of(st.integers(-5, 120), st.integers(0, limits.BUDGET_TOKENS_MAX))


@unhurried
@given(several)
def test_no_memory_closes_the_wrapper_or_adds_a_line(chosen):
    fitted = fit(chosen, 4_096)
    lines = fitted.rendered.splitlines()
    if not fitted.items:
        assert lines == []
        return
    assert lines == fitted.rendered.split("\n")
    assert (lines[0], lines[-1]) == (OPENING, CLOSING)
    assert len(lines) == 2 + len({item.shown.prefix for item in fitted.items})
    assert all(line.startswith("[") for line in lines[1:-1])
    inside = "\n".join(lines[1:-1])
    assert not re.search(r"[<＜﹤]\s*[/／]?\s*memory", inside, re.IGNORECASE)
    assert not re.search(r"<\||</\w+>", inside)


@unhurried
@given(texts)
def test_a_quoted_text_is_one_line_that_can_be_seen_and_sent(text):
    plain = quote(text)
    assert len(plain.splitlines()) == (1 if plain else 0)
    plain.encode()
    hidden = {char for char in plain if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert hidden <= {"\u200c", "\u200d"} | VISIBLE_FORMATS


VISIBLE_FORMATS = {char for char in map(chr, range(0x600, 0x1BCA0)) if unicodedata.category(char) == "Cf"} - {
    "\u061c",
    "\u180e",
    "\ufeff",
    *map(chr, range(0x200B, 0x2070)),
    *map(chr, range(0xFFF0, 0xFFFC)),
}
"""Format characters of single scripts that draw something: Arabic number signs, Kaithi and hieroglyphic joiners."""


@unhurried
@given(texts)
def test_quoting_what_is_quoted_changes_nothing(text):
    assert quote(quote(text)) == quote(text)


@unhurried
@given(st.text(st.characters(categories=["L", "N"], max_codepoint=0x3000)))
def test_letters_and_digits_are_never_changed(text):
    assert quote(text) == text


@unhurried
@given(several, budgets)
def test_the_budget_is_never_exceeded_and_counted_on_the_whole_text(chosen, budget):
    fitted = fit(chosen, budget)
    assert fitted.tokens == count_tokens(fitted.rendered)
    assert fitted.tokens <= max(0, budget)
    assert bool(fitted.items) == bool(fitted.rendered)
    assert len(fitted.items) + fitted.left_out == len(chosen)


@unhurried
@given(several, budgets, st.randoms(use_true_random=False))
def test_the_same_items_give_the_same_bytes(chosen, budget, random):
    shuffled = list(chosen)
    random.shuffle(shuffled)
    first, second = (assemble(header(), order, max(0, budget)) for order in (chosen, shuffled))
    assert first.rendered == second.rendered
    assert same_content(first, second)


worthy = st.lists(
    st.builds(
        choice_of,
        kind=st.just("event"),
        text=st.text("ab ", min_size=1, max_size=31).filter(str.strip),
        probability=st.floats(0.01, 1),
        position=st.integers(1, 4),
        event_ids=st.integers(0, 999).map(lambda number: (str(number),)),
        authority=st.just("user"),
    ),
    max_size=14,
)


@unhurried
@given(worthy, st.integers(0, 150), st.integers(0, 150))
def test_a_smaller_budget_never_carries_more(chosen, one, other):
    """Texts below the length of an excerpt, so that what is bought is bought whole."""
    small, large = sorted((one, other))

    def worth(budget):
        return sum(item.of.choice.probability for item in fit(chosen, budget).items)

    assert worth(small) <= worth(large) + 1e-9


DEAR = choice_of(
    kind="fact",
    text="",
    key="0000000\x1b" + "\xa0" * 7,
    value="",
    probability=0.0,
    authority="user",
    conflicts=(Claim(value="", authority="user", tool="0ª¹¹\xa0"), Claim(value="", authority="user")),
)
"""Dear towards its end: a cut in proportion to the room may go below the shortest excerpt."""


@unhurried
@given(several, st.integers(0, 200))
@example([DEAR], 29)
def test_a_budget_that_carries_something_carries_something_when_it_grows(chosen, budget):
    assert bool(fit(chosen, budget).items) <= bool(fit(chosen, budget + 1).items)


@unhurried
@given(several)
def test_once_everything_fits_a_larger_budget_changes_nothing(chosen):
    everything = fit(chosen, 4_096)
    assert fit(chosen, everything.tokens).rendered == everything.rendered


@unhurried
@given(texts, st.integers(0, 80), st.lists(st.tuples(st.integers(-5, 80), st.integers(-5, 80)), max_size=3))
def test_an_excerpt_has_at_most_the_characters_asked_for(text, chars, keep):
    assert len(excerpt(text, chars, keep)) <= chars


@unhurried
@given(several, st.integers(30, 400))
def test_a_packet_that_comes_back_is_known_as_an_echo(chosen, budget):
    """D2: alone, or between other words, which stay."""
    rendered = fit(chosen, budget).rendered
    if rendered:
        assert not strip_packets(rendered).strip()
        assert strip_packets(f"Before.\n{rendered}\n\nAfter.") == "Before.\nAfter."


@unhurried
@given(st.text())
def test_a_text_without_a_packet_is_left_as_it_is(text):
    assert strip_packets(text) == text
