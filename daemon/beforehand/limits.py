"""Every bound of the product, and what holds between them. Sizes: bytes; times: seconds, unless a name says else."""

from __future__ import annotations

from typing import Final

# --- ids and messages (WIRE) ---
ID_BYTES: Final = 128
"""tenant, agent, run, step: UTF-8 bytes before percent-encoding."""
MESSAGE_ID_BYTES: Final = 256
"""An idempotency key, and each bound of a recall's window: UTF-8 bytes."""
EPOCH_BYTES: Final = 128
"""The name of the process that counts: UTF-8 bytes."""
TEXT_CHARS: Final = 200_000
"""The text of an event; longer ones are refused with the advice to send a reference."""
LIST_ITEMS: Final = 256
"""tags, facts, subject_ids, needs, kinds, tools, used, harmful, metrics: entries in one of them."""
LABEL_CHARS: Final = 512
"""One tag, tool name, space label, need, subject or attribute."""
PLAN_STEPS: Final = 512
"""Steps of one plan, and steps that one step comes after."""
INBOUND_BYTES: Final = 1_048_576
"""One inbound payload."""
NESTING: Final = 64
"""Depth of the JSON of one message."""
SEQ_MAX: Final = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact: of a count or a plan's revision."""
K_MAX: Final = 200
"""Items that one recall may ask for."""
WINDOW_EVENTS_MAX: Final = 1_000_000
"""`last` of a recall's window: events searched, not events answered."""

# --- packets ---
PACKET_BYTES: Final = 65_536
"""One packet on the wire."""
BUDGET_TOKENS_MAX: Final = 8_192
"""The largest budget of a packet or reply."""
PACKET_ITEMS: Final = 64
"""Items of one packet."""
ITEM_CHARS: Final = 1_200
"""One item's text; longer memories are cut to an excerpt."""
HORIZON_MAX: Final = 8
"""Coming steps prepared at once."""
CANDIDATES: Final = 128
"""Candidates scored for one step."""
PACKET_EXPIRY_S: Final = 86_400
"""How long a packet is of use, and the broker keeps it."""

# --- intake ---
ARRIVALS_HIGH: Final = 2_048
"""Unread messages at which the ingest socket is paused."""
ARRIVALS_LOW: Final = 512
"""Unread messages at which a paused ingest socket is read again."""
ARRIVALS_BYTES_HIGH: Final = 64 * 1_048_576
"""Unread payload at which the socket is paused too; it reads again below half of that."""
BATCH_MESSAGES: Final = 256
"""Messages of one group commit."""
UNCOMMITTED_HIGH: Final = 4_096
"""Messages applied to memory and not yet on disk, at which intake waits for the journal."""
FOLDED_AT_ONCE: Final = 16
"""Messages that may come at once (1 ms each to remember); more each time are a flood, most of which is stored first."""
DEAD_LETTERS: Final = 10_000
"""Refused messages that are kept; the oldest go."""
DEAD_LETTER_BYTES: Final = 16_384
"""What is kept of one refused payload."""
GAP_RANGES: Final = 64
"""Missing ranges, and stored ones past them, named in one cumulative receipt."""
GAP_GRACE_S: Final = 0.25
"""How old a gap is before it is asked for: what is on its way needs no asking."""
GAP_ASK_FIRST_S: Final = 2.0
"""Wait before a gap is asked for again; it doubles."""
GAP_ASK_LAST_S: Final = 60.0
"""Where the doubling ends."""
RATED_AGENTS: Final = 10_000
"""Agents whose rate is known, where rates are limited; past that the one heard of least recently may burst again."""
GAPPED_EPOCHS: Final = 10_000
"""Runs and epochs with gaps that are asked for; past that the least recently heard of is left."""
PREPARED_STEPS: Final = 256
"""Steps whose newest decision is kept, so that their begin needs no second one."""
PREPARED_HOLDS_S: Final = 5.0
"""How long such a decision holds while nothing changes."""
RECORD_EVERY_S: Final = 0.02
"""How long a packet waits for others before its record goes to the journal."""
RATED_PACKETS: Final = 1_024
"""Final packets at hand for the feedback on them; older ones are read from the journal."""
UNRECORDED_PACKETS: Final = 10_000
"""Packets whose records wait for the disk; past that the oldest record is given up, and counted."""
KEEP_EVERY_S: Final = 0.25
"""How long the vector of an event waits for others before it goes to the journal."""
UNRECORDED_VECTORS: Final = 10_000
"""Vectors of events that wait for the disk; past that the oldest is left, and made anew when it is needed."""
SEGMENTS_EVERY_S: Final = 1.0
"""How often somebody looks who can be written down: an agent that nobody touched for so long is quiet."""
SEGMENT_MESSAGES: Final = 64
"""Unsaved messages from which a segment is worth writing; fewer are folded as fast."""
SEGMENT_GROWTH: Final = 8
"""A segment is written anew when an eighth of it has come since."""
SEGMENTS_FINISH_S: Final = 3.0
"""How long a daemon that ends writes segments."""
SEGMENTS_BYTES: Final = 4_000_000_000
"""Disk that segments take by default."""
AGENTS_LEAVING: Final = 64
"""Agents that wait to be written down before they leave memory; past that the first leaves without."""

# --- journal ---
READ_ROWS: Final = 250
"""Rows of one page of a read."""
READ_BYTES: Final = 8 * 1_048_576
"""A page ends when the bodies of its rows have reached this."""
KEY_COMMAND_S: Final = 30.0
"""How long the command that prints the master key may take."""
READERS: Final = 4
"""Connections that read the journal at the same time."""
BUSY_S: Final = 5.0
"""How long a statement waits for another's lock before it is tried again from the start."""
FLUSH_S: Final = 5.0
"""How long a closing journal goes on trying to store what it was handed."""
DRAIN_S: Final = 5.0
"""How long a daemon that is told to stop works off what it has taken, before it leaves the rest to the broker."""
STORE_RETRY_FIRST_S: Final = 0.05
"""Wait before a commit that failed is tried again; it doubles."""
STORE_RETRY_LAST_S: Final = 1.0
"""Where the doubling ends."""
CHECKPOINT_PAGES: Final = 4_000
"""Pages written to SQLite's log, roughly, after which a thread moves them into the file."""
LOG_PAGES: Final = 16_000
"""Pages in the log at which the writer moves them itself: no thread can overtake a writer that never rests."""
DISK_LOW_BYTES: Final = 100_000_000
"""Free bytes beside the journal below which the daemon says that its disk fills up."""

# --- memory ---
AGENTS_HOT: Final = 2_000
"""Agents kept in memory by default; the least recently used go."""
AGENT_EVENTS: Final = 50_000
"""Events of one agent that are kept with their words by default; older ones are cold."""
MEMORY_BYTES: Final = 2_000_000_000
"""What agents take of memory by default, estimated; the least recently used go."""
RECENT_EVENTS: Final = 32
"""Newest events of a run shown to rule conditions, and among which a scene that begins finds its own."""
SCENES: Final = 32
"""Scenes (`space`) of one run that a step can look on by itself; past that the one spoken of longest ago goes."""
FACTS_SEEN: Final = 6
"""Facts that a step speaks of, shown to rule conditions."""
PASSAGES_PER_EVENT: Final = 400
"""Passages that one event is cut into."""
PASSAGE_CHARS: Final = 400
"""One passage."""
EMBEDDED_CHARS: Final = 4_096
"""An embedder reads so much of one text: a vector of more would say nothing of any part."""
RATED: Final = 4_096
"""Passages, rules, and kinds of value for one tool, whose worth to an agent is known from feedback: of each so many."""
RATED_TOOLS: Final = 256
"""Tools for which that is known; of all this the least recently rated goes."""

# --- workflows ---
TRAIL_EVENTS: Final = 1_000
"""Events of one run under way that its calls are read from."""
TRAIL_RUNS: Final = 64
"""Runs of one agent whose calls are taken down at the same time; past that the one that began first is left."""
TASK_TYPES: Final = 64
"""Sorts of task that an agent has experience of; the one that was longest not done goes."""
TOOLS_KNOWN: Final = 2_000
"""Tools of one agent whose usual arguments are known; the one known longest goes."""
PRACTICE_RUNS: Final = 64
"""Newest runs of one sort of task that all counts and workflows are drawn from."""
PRACTICE_LEAST: Final = 3
"""Cases from which on something may be called usual."""
REFLECTIONS: Final = 256
"""Steps and runs of one agent whose lessons are kept, the newest."""
INDUCED_EVERY_RUNS: Final = 16
"""Runs after which, at the latest, the steps of workflows are induced anew."""
WORKFLOW_STEPS: Final = 12
"""Steps of one workflow."""
WORKFLOWS_OF_A_TASK: Final = 8
"""Workflows in force for one sort of task."""
MINED_PATTERNS: Final = 96
"""Patterns that one induction extends, the best first."""

# --- summaries and weighted trees ---
DIGESTED_RUNS: Final = 32
"""Runs of one agent whose points for summaries are kept; past that those that were not asked for longest go."""
DIGESTED_AT_ONCE: Final = 16
"""Events read for a summary before everybody else has a turn of the loop."""
WEIGHED_RUNS: Final = 64
"""Runs of one agent whose weighted trees are kept; past that they are grown anew when asked for."""

# --- language model ---
READ_CHARS: Final = 4_000
"""Characters of an event that a language model reads."""
TOLD_SENTENCES: Final = 8
"""Sentences of its summary."""
TOLD_CHARS: Final = 400
"""One of them."""
ANSWER_BYTES: Final = 1_048_576
"""What is read of one answer."""
LOOKED_BACK_EVENTS: Final = 256
"""Newest events of an agent among which a daemon that was started looks for what was not asked yet."""
MET_AGENTS: Final = 10_000
"""Agents known to be looked back on; past that the one heard of least recently is looked back on anew one day."""
UNASKED: Final = 10_000
"""What waits to be asked; past that the oldest is left until its agent is met again after a restart."""
ASK_AGAIN_FIRST_S: Final = 1.0
"""Wait before an endpoint that failed is asked again; it doubles."""
ASK_AGAIN_LAST_S: Final = 300.0
"""Where the doubling ends."""

# --- rules ---
PACK_BYTES: Final = 131_072
"""One file of a rule pack."""
PACK_DEPTH: Final = 12
"""Nesting of the YAML of a pack."""
PACK_RULES: Final = 500
"""Rules of one pack."""
CONDITION_CHARS: Final = 2_000
"""Longer CEL texts can overrun the stack of the library that reads them (measured: at 100,000 characters)."""
CONDITION_LOOPS: Final = 2
"""Loops (`exists`, `map`, ...) inside one another in a condition."""
SITUATION_CHARS: Final = 2_000
"""What a condition sees of one text."""
SITUATION_WORDS: Final = 256
"""Different words of a step that a condition sees."""
QUERY_CHARS: Final = 2_000
"""A recall's query once its placeholders are filled."""
COOLDOWN_STEPS_MAX: Final = PLAN_STEPS
"""Longest cooldown of a rule, in steps."""
COOLDOWN_S_MAX: Final = 30 * 86_400
"""Longest cooldown of a rule, in time."""

# --- experiments ---
EXPERIMENT_ARMS: Final = 8
"""Arms of one experiment."""
EXPERIMENT_METRICS: Final = 32
"""Metrics of one experiment."""
EXPERIMENT_BYTES: Final = 65_536
"""One file that defines an experiment."""
EXPERIMENT_RUNS: Final = 8_000
"""Runs whose arms are at hand; others are hashed again."""
EXPERIMENT_LOOK_S: Final = 2.0
"""How often a running daemon looks for experiments that were started or stopped."""
EXPERIMENT_OUTLIVES_S: Final = 7 * 86_400
"""How long runs that began before an experiment was stopped keep their arm."""

# --- broker ---
KEEPALIVE_S: Final = 30
"""Of both MQTT connections."""
SESSION_EXPIRY_S: Final = 7 * 86_400
"""How long the broker keeps a daemon's session while it is away."""
RECEIVE_MAXIMUM: Final = 256
"""Unacknowledged messages that the broker is asked to stop at; Mosquitto takes it as a hint."""
BROKER_QUEUED_MESSAGES: Final = 100_000
"""What the embedded broker keeps for a client that is away or slow."""
BROKER_QUEUED_BYTES: Final = 256 * 1_048_576
"""The same in bytes."""
BROKER_INFLIGHT: Final = 100
"""Messages that it sends to one client without an answer."""
BROKER_PACKET_BYTES: Final = INBOUND_BYTES + 131_072
"""The largest packet that the embedded broker takes: a payload a little too large is refused by us, with a receipt."""
PUBLISHES_IN_FLIGHT: Final = 64
"""Publishes without their PUBACK on one connection, if the broker allows so many."""
BROKER_ANSWER_S: Final = 10.0
"""How long the daemon waits for an answer of the broker."""
RECONNECT_FIRST_S: Final = 0.1
"""Wait before the first attempt to reconnect, give or take a half; it doubles."""
RECONNECT_LAST_S: Final = 5.0
"""Where the doubling ends."""
TAKEOVERS: Final = 5
"""Connections lost within a second of being made, one after another, before the daemon gives up with advice."""
PROBE_WARN_S: Final = 0.010
"""Round trip at the start above which the daemon warns."""
PENDING_PACKETS: Final = 10_000
"""Topics with an unpublished packet; a newer packet replaces an older one of its topic."""
PENDING_RECEIPTS: Final = 10_000
"""Receipts waiting for the broker."""

# --- client ---
OUTBOX_MESSAGES: Final = 10_000
"""Messages that a client keeps until they are known to be on disk."""
OUTBOX_BYTES: Final = 64 * 1_048_576
"""The same in bytes."""
INBOX_PACKETS: Final = 1_024
"""Packets that a client keeps for steps that have not ended."""
ASK_FIRST_S: Final = 5.0
"""How long a client waits for a confirmation before it asks with a message said before; it doubles."""
ASK_SOON_S: Final = 1.0
"""The same after a reconnection: when a broker restarts, the daemon may come back to it after the client."""
ASK_LAST_S: Final = 60.0
"""Where the doubling ends."""
CUT_OFF: Final = 5
"""Connections lost, one after another, at the same message sent alone, before a client gives that message up."""
LINGER_S: Final = 1.0
"""How long a client that ends waits, by default, for what is not confirmed."""

assert BATCH_MESSAGES <= ARRIVALS_HIGH <= UNCOMMITTED_HIGH  # noqa: S101  the page checks itself when it is imported
assert RECEIVE_MAXIMUM <= ARRIVALS_LOW < ARRIVALS_HIGH  # noqa: S101  one window always fits below the resume mark
assert SEGMENTS_FINISH_S < DRAIN_S  # noqa: S101  memories are written down before the end is forced
assert CHECKPOINT_PAGES < LOG_PAGES  # noqa: S101  the log is copied before it is full
assert max(PACKET_BYTES, DEAD_LETTER_BYTES) < INBOUND_BYTES  # noqa: S101  what we publish, agents can receive
assert BUDGET_TOKENS_MAX * 4 < PACKET_BYTES  # noqa: S101  a full budget of plain text fits on the wire
assert PASSAGE_CHARS <= ITEM_CHARS <= EMBEDDED_CHARS  # noqa: S101  a passage or an item is embedded whole
