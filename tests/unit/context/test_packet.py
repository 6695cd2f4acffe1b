import pytest

from beforehand import limits
from beforehand.context.choice import Claim, identity
from beforehand.context.packet import assemble, same_content
from beforehand.messages import codec
from beforehand.messages.outbound import Packet, Reason
from beforehand.messages.topics import Scope
from memories import header, said, value

CHOICES = [value("price", "230", 3), said("Take the cheaper one.", 4)]


def test_a_packet_with_items_is_ready():
    packet = assemble(header(), CHOICES, 512)
    assert (packet.status, packet.reason) == ("ready", None)
    assert [item.text for item in packet.items] == ["price: 230", "Take the cheaper one."]
    assert packet.budget_tokens == 512
    assert packet.watermark.position == 9


def test_an_item_says_where_it_comes_from_and_why_it_is_there():
    why = ("rule", "core/next-call", 0.9)
    fact = said(
        "", 4, kind="fact", key="port", value="49222", why=(why,), at_us=0, valid=(0, None), event_ids=("e4", "e5")
    )
    (item,) = assemble(header(), [fact], 512).items
    assert item.kind == "fact"
    assert item.source == "user"
    assert item.event_ids == ["e4", "e5"]
    assert item.why == [Reason(trigger="rule", name="core/next-call", score=0.9)]
    assert item.valid is not None
    assert item.valid[1] is None
    assert item.tokens == 3


@pytest.mark.parametrize(
    ("more", "choices", "budget", "status", "reason"),
    [
        ({}, [], 512, "silent", "nothing worth saying"),
        ({"quiet": "best of 20 is 0.08"}, [], 512, "silent", "best of 20 is 0.08"),
        ({}, CHOICES, 5, "silent", "budget_tokens 5 holds none of 2 items"),
        ({"late": True}, CHOICES, 512, "late", "the step had begun"),
        ({"late": True}, [], 512, "silent", "nothing worth saying"),
        ({"down": ("model", "embedder")}, CHOICES, 512, "degraded", "without embedder, model"),
        ({"down": ("embedder",)}, [], 512, "degraded", "without embedder; nothing worth saying"),
        ({"down": ("embedder",), "late": True}, CHOICES, 512, "degraded", "without embedder; the step had begun"),
        ({"error": "memory is being rebuilt"}, CHOICES, 512, "error", "memory is being rebuilt"),
    ],
)
def test_the_status_says_what_the_agent_has_before_it(more, choices, budget, status, reason):
    packet = assemble(header(**more), choices, budget)
    assert (packet.status, packet.reason) == (status, reason)


def test_an_error_carries_no_items():
    packet = assemble(header(error="x"), CHOICES, 512)
    assert (packet.items, packet.rendered, packet.tokens) == ([], "", 0)


def test_the_same_memory_has_the_same_id_in_every_packet():
    first = assemble(header(), CHOICES, 512)
    second = assemble(header(id="p2", version=2, step="s2"), [said("More.", 9), *CHOICES], 400)
    assert {item.id for item in first.items} < {item.id for item in second.items}
    assert first.items[0].id == identity(CHOICES[0])


def test_an_excerpt_has_the_id_of_its_memory():
    long = said("A long story about nothing. " * 40)
    assert assemble(header(), [long], 40).items[0].id == assemble(header(), [long], 512).items[0].id


@pytest.mark.parametrize(
    "other",
    [
        value("price", "231", 3),
        value("cost", "230", 3),
        value("price", "230", 3, event_ids=("e7",)),
        value("price", "230", 3, kind="fact"),
        value("price", "230", 3, conflicts=(Claim(value="240"),)),
    ],
)
def test_another_text_kind_or_source_gives_another_id(other):
    assert identity(other) != identity(CHOICES[0])


def test_an_id_is_fixed_for_all_versions_of_the_product():
    assert identity(CHOICES[0]) == "m_3bd9f1c5e321dc0341f3"


def test_a_conflict_names_the_id_of_its_other_side():
    other = value("price", "240", 5, kind="fact")
    stands = value("price", "230", 3, kind="fact", conflicts=(Claim(value="240", event_ids=("e5",)),))
    assert assemble(header(), [stands], 512).items[0].conflicts_with == [identity(other)]


def test_a_refresh_with_other_times_and_probabilities_is_no_news():
    before = assemble(header(), CHOICES, 512)
    later = header(id="p2", version=2, position=12, event="e12", created_us=1_772_359_900_000_000)
    after = assemble(later, [value("price", "230", 3, probability=0.6), CHOICES[1]], 512)
    assert same_content(before, after)


@pytest.mark.parametrize(
    ("more", "choices"),
    [
        ({}, CHOICES[:1]),
        ({}, [value("price", "231", 3), CHOICES[1]]),
        ({"late": True}, CHOICES),
        ({"down": ("embedder",)}, CHOICES),
        ({}, [value("price", "230", 3, event_ids=("e7",)), CHOICES[1]]),
    ],
)
def test_other_items_text_or_status_are_news(more, choices):
    assert not same_content(assemble(header(), CHOICES, 512), assemble(header(**more), choices, 512))


@pytest.mark.parametrize("script", ["x", "日", "🙂", '"', "\\"])
def test_the_largest_packet_fits_on_the_wire(script):
    reasons = tuple(("rule", f"pack/{'n' * 100}", 1 / 3) for _ in range(20))
    ids = tuple("\x01" * limits.MESSAGE_ID_BYTES for _ in range(30))
    choices = [
        said(f"{n} " + f"{script * 40} " * 40, n, why=reasons, event_ids=(str(n), *ids), at_us=1_772_359_800_123_456)
        for n in range(limits.PACKET_ITEMS)
    ]
    longest = "\x01" * limits.ID_BYTES
    widest = header(
        scope=Scope(longest, longest, longest),
        step=longest,
        event="\x01" * limits.MESSAGE_ID_BYTES,
        down=("\x01" * 999,),
    )
    packet = assemble(widest, choices, limits.BUDGET_TOKENS_MAX)
    wire = codec.write(packet)
    assert packet.items
    assert len(wire) <= limits.PACKET_BYTES
    assert Packet.model_validate_json(wire) == packet


def test_a_text_that_utf8_cannot_carry_is_sent_all_the_same():
    packet = assemble(header(), [said("lone \ud800 surrogate")], 512)
    assert b"lone \xef\xbf\xbd surrogate" in codec.write(packet)
