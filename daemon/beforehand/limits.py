"""Every bound of the product on one page, with the assertions that hold between them.

Sizes are bytes, times are seconds, unless the name says otherwise.
"""

from __future__ import annotations

from typing import Final

# --- ids and messages (WIRE) ---
ID_BYTES: Final = 128
"""tenant, agent, run, step: UTF-8 bytes before percent-encoding."""
MESSAGE_ID_BYTES: Final = 256
EPOCH_BYTES: Final = 128
TEXT_CHARS: Final = 200_000
"""The text of an event; longer ones are refused with the advice to send a reference."""
LIST_ITEMS: Final = 256
"""tags, facts, subject_ids, needs, kinds, tools: entries in one list."""
LABEL_CHARS: Final = 512
"""One tag, tool name, space label, need, subject or attribute."""
PLAN_STEPS: Final = 512
INBOUND_BYTES: Final = 1_048_576
NESTING: Final = 64
"""Depth of the JSON of one message."""
SEQ_MAX: Final = 2**53 - 1
REVISION_MAX: Final = 2**53 - 1
K_MAX: Final = 200
"""Items that one recall may ask for."""
WINDOW_EVENTS_MAX: Final = 1_000_000
"""`last` of a recall's window: events searched, not events answered."""

# --- packets ---
PACKET_BYTES: Final = 65_536
BUDGET_TOKENS_MAX: Final = 8_192
PACKET_ITEMS: Final = 64
ITEM_CHARS: Final = 1_200
"""One item's text; longer memories are cut to an excerpt."""
HORIZON_MAX: Final = 8
CANDIDATES: Final = 160
"""Candidates scored for one step."""
PACKET_EXPIRY_S: Final = 86_400

# --- intake ---
ARRIVALS_HIGH: Final = 2_048
"""Unread messages at which the ingest socket is paused."""
ARRIVALS_LOW: Final = 512
ARRIVALS_BYTES_HIGH: Final = 64 * 1_048_576
"""Unread payload at which the socket is paused too; it reads again below half of that."""
BATCH_MESSAGES: Final = 256
"""Messages of one group commit."""
UNCOMMITTED_HIGH: Final = 4_096
"""Messages applied to memory and not yet on disk, at which intake waits for the journal."""
DEAD_LETTERS: Final = 10_000
DEAD_LETTER_BYTES: Final = 16_384
"""What is kept of one refused payload."""
GAP_RANGES: Final = 64
"""Missing ranges named in one cumulative receipt."""
AHEAD_SEQ: Final = 100_000
"""How far past the durable mark a sequence number is remembered one by one."""

RECORD_EVERY_S: Final = 0.02
"""How long a packet waits for others before its record goes to the journal."""

# --- journal ---
READ_ROWS: Final = 1_000
"""Rows of one page of a read."""
READ_BYTES: Final = 8 * 1_048_576
"""A page ends when the bodies of its rows have reached this."""
READERS: Final = 4
BUSY_S: Final = 5.0
"""How long a statement waits for another's lock before it is tried again from the start."""
FLUSH_S: Final = 5.0
"""How long a closing journal goes on trying to store what it was handed."""
STORE_RETRY_FIRST_S: Final = 0.05
STORE_RETRY_LAST_S: Final = 1.0
CHECKPOINT_PAGES: Final = 4_000
"""Pages written to SQLite's log, roughly, after which a thread moves them into the file."""
LOG_PAGES: Final = 16_000
"""Pages in the log at which the writer moves them itself: no thread can overtake a writer that never rests."""

# --- memory ---
AGENTS_HOT: Final = 2_000
RECENT_EVENTS: Final = 32
"""Newest events of a run shown to rule conditions."""
PASSAGES_PER_EVENT: Final = 400
PASSAGE_CHARS: Final = 400
EMBEDDED_CHARS: Final = 4_096
"""An embedder reads so much of one text: a vector of more would say nothing of any part."""

# --- rules ---
PACK_BYTES: Final = 131_072
PACK_DEPTH: Final = 12
"""Nesting of the YAML of a pack."""
PACK_RULES: Final = 500
CONDITION_CHARS: Final = 2_000
"""Longer CEL texts can overrun the stack of the library that reads them (measured: at 100,000 characters)."""
CONDITION_LOOPS: Final = 2
"""Loops (`exists`, `map`, ...) inside one another in a condition."""
SITUATION_CHARS: Final = 2_000
"""What a condition sees of one text."""
SITUATION_WORDS: Final = 256
QUERY_CHARS: Final = 2_000
"""A recall's query once its placeholders are filled."""
COOLDOWN_STEPS_MAX: Final = PLAN_STEPS
COOLDOWN_S_MAX: Final = 30 * 86_400
FIRINGS_PER_RULE: Final = 16
"""Steps remembered per rule for its cooldown."""

# --- broker ---
KEEPALIVE_S: Final = 30
SESSION_EXPIRY_S: Final = 7 * 86_400
RECEIVE_MAXIMUM: Final = 256
BROKER_QUEUED_MESSAGES: Final = 100_000
"""What the embedded broker keeps for a client that is away or slow."""
BROKER_QUEUED_BYTES: Final = 256 * 1_048_576
BROKER_INFLIGHT: Final = 100
BROKER_PACKET_BYTES: Final = INBOUND_BYTES + 131_072
"""The largest packet that the embedded broker takes: a payload a little too large is refused by us, with a receipt."""
PUBLISHES_IN_FLIGHT: Final = 64
"""Publishes without their PUBACK on one connection, if the broker allows so many."""
BROKER_ANSWER_S: Final = 10.0
RECONNECT_FIRST_S: Final = 0.1
RECONNECT_LAST_S: Final = 15.0
TAKEOVERS: Final = 5
"""Connections lost within a second of being made, one after another, before the daemon gives up with advice."""
PROBE_WARN_S: Final = 0.010
PENDING_PACKETS: Final = 10_000
"""Topics with an unpublished packet; a newer packet replaces an older one of its topic."""
PENDING_RECEIPTS: Final = 10_000

# --- client ---
OUTBOX_MESSAGES: Final = 10_000
OUTBOX_BYTES: Final = 64 * 1_048_576

assert ARRIVALS_LOW < ARRIVALS_HIGH  # noqa: S101  the page checks itself when it is imported
assert BATCH_MESSAGES <= ARRIVALS_HIGH <= UNCOMMITTED_HIGH  # noqa: S101
assert RECEIVE_MAXIMUM <= ARRIVALS_LOW  # noqa: S101  one window always fits below the resume mark
assert CHECKPOINT_PAGES < LOG_PAGES  # noqa: S101
assert PACKET_BYTES < INBOUND_BYTES  # noqa: S101
assert FIRINGS_PER_RULE > HORIZON_MAX  # noqa: S101  preparing steps ahead does not push out what was said before
assert BUDGET_TOKENS_MAX * 4 < PACKET_BYTES  # noqa: S101  a full budget of plain text fits on the wire
assert PASSAGE_CHARS <= ITEM_CHARS <= EMBEDDED_CHARS  # noqa: S101  a passage or an item is embedded whole
assert DEAD_LETTER_BYTES < INBOUND_BYTES  # noqa: S101
