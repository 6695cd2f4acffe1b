"""What every Measures does; and how Prometheus tells it."""

from __future__ import annotations

import pytest
from prometheus_client import generate_latest

from beforehand.backends.measures import PrometheusMeasures, RecordedMeasures
from beforehand.measures import ALL
from beforehand.ports import Measures


@pytest.fixture(params=[PrometheusMeasures, RecordedMeasures])
def measures(request: pytest.FixtureRequest) -> Measures:
    made: Measures = request.param()
    return made


def say(measures: Measures, name: str, kind: str, labels: dict[str, str]) -> None:
    if kind == "counter":
        measures.count(name, **labels)
    elif kind == "gauge":
        measures.gauge(name, 2.5, **labels)
    else:
        measures.observe(name, 2.5, **labels)


def told(measures: Measures, name: str, **labels: str) -> float:
    """A counter's or gauge's value."""
    if isinstance(measures, RecordedMeasures):
        return measures.value(name, **labels)
    assert isinstance(measures, PrometheusMeasures)
    return measures.registry.get_sample_value(name, labels) or 0.0


def test_everything_on_the_list_can_be_said(measures: Measures):
    for measure in ALL:
        say(measures, measure.name, measure.kind, dict.fromkeys(measure.labels, "x"))


def test_counters_add_up_for_each_label(measures: Measures):
    measures.count("beforehand_messages_total", channel="event")
    measures.count("beforehand_messages_total", 2.0, channel="event")
    measures.count("beforehand_messages_total", channel="step")
    measures.count("beforehand_gaps_total", 0)
    assert told(measures, "beforehand_messages_total", channel="event") == 3
    assert told(measures, "beforehand_messages_total", channel="step") == 1
    assert told(measures, "beforehand_gaps_total") == 0


def test_labels_may_be_named_in_any_order(measures: Measures):
    measures.count("beforehand_packets_total", final="true", status="ready")
    measures.count("beforehand_packets_total", status="ready", final="true")
    assert told(measures, "beforehand_packets_total", status="ready", final="true") == 2


def test_a_gauge_keeps_the_newest(measures: Measures):
    measures.gauge("beforehand_uncommitted", 7)
    measures.gauge("beforehand_uncommitted", 3)
    assert told(measures, "beforehand_uncommitted") == 3


def test_a_name_that_is_not_on_the_list_is_refused(measures: Measures):
    for kind in ("counter", "gauge", "histogram"):
        with pytest.raises(KeyError, match=r"'beforehand_mesages_total' in beforehand\.measures\.ALL"):
            say(measures, "beforehand_mesages_total", kind, {})


def test_another_kind_is_refused(measures: Measures):
    with pytest.raises(ValueError, match=r"beforehand_uncommitted is a gauge in beforehand\.measures\.ALL"):
        measures.count("beforehand_uncommitted")
    with pytest.raises(ValueError, match="is a counter"):
        measures.gauge("beforehand_gaps_total", 1)
    with pytest.raises(ValueError, match="is a counter"):
        measures.observe("beforehand_gaps_total", 1)


@pytest.mark.parametrize("labels", [{}, {"chanel": "event"}, {"channel": "event", "agent": "a"}])
def test_labels_that_are_not_on_the_list_are_refused(measures: Measures, labels: dict[str, str]):
    with pytest.raises(ValueError, match=r"has the labels channel in beforehand\.measures\.ALL"):
        measures.count("beforehand_messages_total", **labels)


def test_a_counter_does_not_fall(measures: Measures):
    with pytest.raises(ValueError, match="only grows"):
        measures.count("beforehand_gaps_total", -1)


def test_two_daemons_in_one_process_do_not_share_numbers():
    one, other = PrometheusMeasures(), PrometheusMeasures()
    one.count("beforehand_gaps_total")
    assert told(other, "beforehand_gaps_total") == 0


def test_prometheus_reads_every_metric_with_its_help():
    measures = PrometheusMeasures()
    page = generate_latest(measures.registry).decode()
    for measure in ALL:
        assert f"# HELP {measure.name} {measure.help}" in page


def test_histograms_have_bounds_that_fit_what_they_count():
    measures = PrometheusMeasures()
    measures.observe("beforehand_foresight_seconds", 0.002)
    measures.observe("beforehand_commit_messages", 256)
    bucket = measures.registry.get_sample_value
    assert bucket("beforehand_foresight_seconds_bucket", {"le": "0.001"}) == 0
    assert bucket("beforehand_foresight_seconds_bucket", {"le": "0.0025"}) == 1
    assert bucket("beforehand_commit_messages_bucket", {"le": "128.0"}) == 0
    assert bucket("beforehand_commit_messages_bucket", {"le": "256.0"}) == 1


def test_recorded_values_are_told_in_order():
    measures = RecordedMeasures()
    assert measures.observed("beforehand_packet_tokens") == []
    measures.observe("beforehand_packet_tokens", 3)
    measures.observe("beforehand_packet_tokens", 1)
    assert measures.observed("beforehand_packet_tokens") == [3, 1]
    with pytest.raises(KeyError):
        measures.value("beforehand_nothing_total")
