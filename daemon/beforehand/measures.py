"""The metrics, as a typed list that is also the page docs/reference/metrics.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric. Names follow Prometheus: base unit last, `_total` on counters."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()


ALL: Final = (
    Measure("beforehand_messages_total", "counter", "Messages accepted.", ("channel",)),
    Measure("beforehand_deferred_total", "counter", "Messages stored first and remembered later.", ("channel",)),
    Measure("beforehand_lagging_messages", "gauge", "Of these, what is not remembered yet, to about 256 an agent."),
    Measure("beforehand_duplicates_total", "counter", "Messages that were already stored.", ("channel",)),
    Measure("beforehand_refused_total", "counter", "Messages refused with a receipt.", ("field",)),
    Measure(
        "beforehand_unknown_fields_total",
        "counter",
        "Fields that the contract does not name; kept.",
        ("channel",),
    ),
    Measure("beforehand_gaps_total", "counter", "Ranges of sequence numbers asked for again."),
    Measure("beforehand_commit_seconds", "histogram", "From hand-over to durable, one batch."),
    Measure("beforehand_commit_messages", "histogram", "Messages in one commit."),
    Measure("beforehand_uncommitted", "gauge", "Messages in memory and not yet on disk."),
    Measure("beforehand_packets_total", "counter", "Packets published.", ("status", "final")),
    Measure("beforehand_packet_tokens", "histogram", "Tokens of a published packet."),
    Measure("beforehand_packet_items_total", "counter", "Items published.", ("trigger",)),
    Measure("beforehand_unchanged_total", "counter", "Decisions that changed nothing, so nothing was published."),
    Measure("beforehand_foresight_seconds", "histogram", "Deciding for one step, all in."),
    Measure("beforehand_recall_seconds", "histogram", "Asking one channel of memory for an agent.", ("channel",)),
    Measure("beforehand_recall_tokens_total", "counter", "Tokens of the answers that it gave.", ("channel",)),
    Measure("beforehand_tree_nodes", "gauge", "Nodes of the weighted tree that was asked for last.", ("state",)),
    Measure("beforehand_tree_depth", "histogram", "Depth of a weighted tree that was asked for."),
    Measure("beforehand_publish_seconds", "histogram", "From decision to the broker's PUBACK."),
    Measure("beforehand_publish_refused_total", "counter", "Publishes that the broker refused."),
    Measure("beforehand_reconnections_total", "counter", "Connections to the broker after the first.", ("lane",)),
    Measure("beforehand_disconnected_seconds_total", "counter", "Time without the broker.", ("lane",)),
    Measure("beforehand_pauses_total", "counter", "Times a lane was paused at the high-water mark.", ("lane",)),
    Measure("beforehand_probe_seconds", "gauge", "QoS 1 round trip measured at start."),
    Measure("beforehand_first_touches_total", "counter", "Agents brought into memory.", ("source",)),
    Measure("beforehand_first_touch_seconds", "histogram", "Bringing an agent into memory."),
    Measure("beforehand_memory_bytes", "gauge", "What the agents in memory take, estimated."),
    Measure("beforehand_agents_hot", "gauge", "Agents in memory."),
    Measure(
        "beforehand_feedback_total",
        "counter",
        "Items used or harmful, and notes of what was missing.",
        ("verdict",),
    ),
    Measure("beforehand_feedback_unheeded_total", "counter", "Feedback on packets that were not found."),
    Measure("beforehand_language_model_answers_total", "counter", "Answers of the language model.", ("use", "result")),
    Measure("beforehand_language_model_facts_total", "counter", "Facts that it read.", ("result",)),
    Measure("beforehand_language_model_failures_total", "counter", "Requests without an answer.", ("reason",)),
    Measure("beforehand_language_model_seconds", "histogram", "From a request to its answer.", ("use",)),
    Measure("beforehand_language_model_tokens_total", "counter", "Tokens of requests and answers.", ("use",)),
    Measure("beforehand_language_model_waiting", "gauge", "What waits to be asked."),
    Measure("beforehand_expired_total", "counter", "Messages that were emptied since their period was over."),
    Measure("beforehand_degraded", "gauge", "1 while this part is at fault, else 0.", ("part",)),
    Measure("beforehand_failures_total", "counter", "Faults that were caught and named.", ("part",)),
)

BY_NAME: Final = {measure.name: measure for measure in ALL}
