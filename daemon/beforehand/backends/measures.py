"""Where the metrics go: to Prometheus, or into memory for tests."""

from __future__ import annotations

from collections import defaultdict
from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from beforehand.measures import ALL, BY_NAME, Measure

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histograms in seconds."""
AMOUNTS: Final = tuple(float(2**power) for power in range(14))
"""Upper bounds of the histograms that count messages or tokens: 1 to 8,192."""

Labelled = tuple[str, tuple[str, ...]]
"""A metric's name, and its label values in the order of beforehand.measures.ALL."""


def checked(name: str, kind: Literal["counter", "gauge", "histogram"], labels: dict[str, str]) -> tuple[str, ...]:
    """The label values in the order of the list.

    Raises KeyError for a name that is not in beforehand.measures.ALL, ValueError for another kind or other labels.
    """
    measure = BY_NAME.get(name)
    if measure is None:
        raise KeyError(f"no metric {name!r} in beforehand.measures.ALL; there are {', '.join(BY_NAME)}")
    if measure.kind != kind:
        raise ValueError(f"{name} is a {measure.kind} in beforehand.measures.ALL, not a {kind}")
    if labels.keys() != set(measure.labels):
        given, wanted = ", ".join(labels) or "none", ", ".join(measure.labels) or "none"
        raise ValueError(f"{name} has the labels {wanted} in beforehand.measures.ALL, and was given {given}")
    return tuple(labels[label] for label in measure.labels)


def _unfit(name: str, amount: float) -> ValueError:
    return ValueError(f"{name} only grows, and {amount} is negative")


class PrometheusMeasures:
    """Metrics of one daemon, in a registry of their own (`registry`), which `page` renders."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        for measure in ALL:
            self._register(measure)

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """See ports.Measures. Raises ValueError for a negative amount."""
        values = checked(name, "counter", labels)
        if amount < 0:
            raise _unfit(name, amount)
        counter = self._counters[name]
        (counter.labels(*values) if values else counter).inc(amount)

    def gauge(self, name: str, value: float, **labels: str) -> None:
        """See ports.Measures."""
        values = checked(name, "gauge", labels)
        gauge = self._gauges[name]
        (gauge.labels(*values) if values else gauge).set(value)

    def observe(self, name: str, value: float, **labels: str) -> None:
        """See ports.Measures."""
        values = checked(name, "histogram", labels)
        histogram = self._histograms[name]
        (histogram.labels(*values) if values else histogram).observe(value)

    def page(self) -> bytes:
        """All of them as Prometheus reads them. May be called from any thread."""
        return generate_latest(self.registry)

    def _register(self, measure: Measure) -> None:
        if measure.kind == "counter":
            self._counters[measure.name] = Counter(measure.name, measure.help, measure.labels, registry=self.registry)
        elif measure.kind == "gauge":
            self._gauges[measure.name] = Gauge(measure.name, measure.help, measure.labels, registry=self.registry)
        else:
            bounds = SECONDS if measure.name.endswith("_seconds") else AMOUNTS
            self._histograms[measure.name] = Histogram(
                measure.name, measure.help, measure.labels, registry=self.registry, buckets=bounds
            )


class RecordedMeasures:
    """Metrics in memory, to be asked."""

    def __init__(self) -> None:
        self._values: defaultdict[Labelled, float] = defaultdict(float)
        self._observed: defaultdict[Labelled, list[float]] = defaultdict(list)

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """See ports.Measures. Raises ValueError for a negative amount."""
        values = checked(name, "counter", labels)
        if amount < 0:
            raise _unfit(name, amount)
        self._values[name, values] += amount

    def gauge(self, name: str, value: float, **labels: str) -> None:
        """See ports.Measures."""
        self._values[name, checked(name, "gauge", labels)] = value

    def observe(self, name: str, value: float, **labels: str) -> None:
        """See ports.Measures."""
        self._observed[name, checked(name, "histogram", labels)].append(value)

    def value(self, name: str, **labels: str) -> float:
        """Of a counter or gauge with these labels; 0 when nothing was said."""
        measure = BY_NAME.get(name)
        kind: Literal["counter", "gauge"] = "gauge" if measure is not None and measure.kind == "gauge" else "counter"
        return self._values.get((name, checked(name, kind, labels)), 0.0)

    def observed(self, name: str, **labels: str) -> list[float]:
        """What was put into a histogram with these labels, in order."""
        return list(self._observed.get((name, checked(name, "histogram", labels)), ()))
