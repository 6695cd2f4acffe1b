"""The report of a training as one HTML page without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

_SIDE: Final = 260
_FEATURES: Final = 25
_STYLE: Final = "body{font:15px sans-serif;max-width:56em;margin:2em auto}td,th{padding:.2em .8em;text-align:left}"


def page(name: str, report: Mapping[str, Any], verdict: str) -> str:
    """The page. report: as `training.making` writes it."""
    parts = (
        f"<h1>Trigger model {escape(name)}</h1><p>{escape(verdict)}</p>",
        f"<p>{report['rows']['taught']} candidates were fitted, {report['rows']['held']} held back by task.</p>",
        "<h2>By source, held back</h2>",
        _by_source(report["sources"]),
        "<h2>Stated and found probability</h2>",
        _curve(report["calibration"]),
        "<h2>Features, share of the whole gain</h2>",
        _bars(report["importance"]),
    )
    return f"<!doctype html><meta charset=utf-8><title>{escape(name)}</title><style>{_STYLE}</style>{''.join(parts)}\n"


def _by_source(sources: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    measures = ("auc", "recall_at_6", "recall_at_12")
    head = "".join(f"<th>{name}" for name in ("source", "model", *measures))
    rows = (
        f"<tr><td>{escape(source)}<td>{escape(model)}" + "".join(f"<td>{measured[name]}" for name in measures)
        for source, models in sources.items()
        for model, measured in models.items()
    )
    return f"<table><tr>{head}{''.join(rows)}</table>"


def _curve(points: Sequence[Mapping[str, float]]) -> str:
    drawn = " ".join(f"{point['stated'] * _SIDE:.1f},{(1 - point['found']) * _SIDE:.1f}" for point in points)
    return (
        f"<svg width={_SIDE} height={_SIDE} style='border:1px solid'>"
        f"<line x1=0 y1={_SIDE} x2={_SIDE} y2=0 stroke=silver />"
        f"<polyline points='{drawn}' fill=none stroke=black stroke-width=2 /></svg>"
    )


def _bars(importance: Mapping[str, float]) -> str:
    most = max(importance.values(), default=1.0)
    rows = (
        f"<tr><td>{escape(name)}<td>{share}"
        f"<td><svg width=300 height=12><rect width={300 * share / most:.0f} height=12 /></svg>"
        for name, share in list(importance.items())[:_FEATURES]
    )
    return f"<table>{''.join(rows)}</table>"
