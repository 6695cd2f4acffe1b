"""The report of a training as one HTML page without scripts, and the card of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

_SIDE: Final = 260
_FEATURES: Final = 25
_COLOURS: Final = {"trees": "black", "linear": "steelblue", "current": "darkorange"}
_STYLE: Final = "body{font:15px sans-serif;max-width:56em;margin:2em auto}td,th{padding:.2em .8em;text-align:left}"
_CARD: Final = """# Model card: {name}

**What it does.** Scores passages by the probability that the coming step takes a value from them.

**Data.** {taught} candidates were fitted and {held} held back by task, for calibration and for these figures. The rows
hash to `{data}`, seed {seed}. `report.html` and `report.json` stand beside this page.

| source | AUC | recall of the first 12 | of a linear model |
|---|---|---|---|
{rows}

**Limits.** Measured only on tasks of the sources above; on others nothing is known. Licences of the sources hold for
the rows, not for the model, which has no text in it.
"""
Points = Sequence[tuple[float, float]]


def page(name: str, report: Mapping[str, Any], verdict: Sequence[str]) -> str:
    """The page. report: as `training.making` writes it; verdict: what the release gate said."""
    silence = [(one["recall"], one["precision"]) for one in report["silence"] if None not in one.values()]
    stated = [(one["stated"], one["found"]) for one in report["calibration"]]
    parts = (
        f"<h1>Trigger model {escape(name)}</h1>",
        f"<p>{report['rows']['taught']} candidates were fitted, {report['rows']['held']} held back by task.</p>",
        f"<h2>Against the current model</h2><ul>{''.join(f'<li>{escape(line)}' for line in verdict)}</ul>",
        "<h2>By source, held back</h2>",
        _by_source(report["sources"]),
        "<h2>Recall of steps by tokens, mean of the sources</h2>",
        _plot(_by_budget(report["sources"], "recall"), "tokens, of 512", "steps with a carrying item"),
        "<h2>Precision of items by tokens, mean of the sources</h2>",
        _plot(_by_budget(report["sources"], "precision"), "tokens, of 512", "items that carry"),
        "<h2>Stated and found probability</h2>",
        _plot({"trees": stated}, "stated", "found", even=True),
        "<h2>Silence, at several bars</h2>",
        _plot({"trees": silence}, "idle steps that stay silent", "silent steps that needed nothing"),
        _silence(report["silence"]),
        "<h2>Features, share of the whole gain</h2>",
        _bars(report["importance"]),
    )
    return f"<!doctype html><meta charset=utf-8><title>{escape(name)}</title><style>{_STYLE}</style>{''.join(parts)}\n"


def card(name: str, report: Mapping[str, Any], data: str, seed: int) -> str:
    """The model's card, as far as a training knows it; data: the hash of the rows."""
    return _CARD.format(
        name=name,
        taught=report["rows"]["taught"],
        held=report["rows"]["held"],
        data=data[:16],
        seed=seed,
        rows="\n".join(
            f"| {source} | {of['trees']['auc']} | {of['trees']['recall_at_12']} | {of['linear']['recall_at_12']} |"
            for source, of in report["sources"].items()
        ),
    )


def _by_source(sources: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    measures = ("auc", "whether", "recall_at_6", "recall_at_12")
    head = "".join(f"<th>{name}" for name in ("source", "model", *measures, "recall / precision in 256 tokens"))
    rows = (
        f"<tr><td>{escape(source)}<td>{escape(model)}"
        + "".join(f"<td>{measured[name]}" for name in measures)
        + "<td>{recall} / {precision}".format(**measured["at_tokens"]["256"])
        for source, models in sources.items()
        for model, measured in models.items()
    )
    return f"<table><tr>{head}{''.join(rows)}</table>"


def _by_budget(sources: Mapping[str, Mapping[str, Mapping[str, Any]]], measure: str) -> dict[str, Points]:
    """Model to (share of 512 tokens, mean over the sources)."""
    curves: dict[str, Points] = {}
    for model in _COLOURS:
        told = [models[model]["at_tokens"] for models in sources.values() if model in models]
        budgets = list(told[0]) if told else []
        curves[model] = [(int(each) / 512, sum(one[each][measure] for one in told) / len(told)) for each in budgets]
    return {model: points for model, points in curves.items() if points}


def _plot(curves: Mapping[str, Points], across: str, up: str, *, even: bool = False) -> str:
    """Curves in the unit square, with a legend; even: the diagonal as well."""
    lines = [f"<line x1=0 y1={_SIDE} x2={_SIDE} y2=0 stroke=silver />"] if even else []
    lines += [f"<g fill=none stroke={_COLOURS[name]}>{_curve(points)}</g>" for name, points in curves.items()]
    legend = ", ".join(f"<span style='color:{_COLOURS[name]}'>{escape(name)}</span>" for name in curves)
    return (
        f"<svg width={_SIDE} height={_SIDE} style='border:1px solid;overflow:visible'>{''.join(lines)}</svg>"
        f"<p>{legend}; across: {escape(across)}; up: {escape(up)}; both from 0 to 1</p>"
    )


def _curve(points: Points) -> str:
    places = [(x * _SIDE, (1 - y) * _SIDE) for x, y in points]
    dots = "".join(f"<circle cx={x:.1f} cy={y:.1f} r=2 />" for x, y in places)
    return f"<polyline points='{' '.join(f'{x:.1f},{y:.1f}' for x, y in places)}' stroke-width=2 />{dots}"


def _silence(bars: Iterable[Mapping[str, float | None]]) -> str:
    names = ("bar", "silent", "precision", "recall")
    head = "<tr><th>bar<th>silent steps<th>of these needed nothing<th>of the idle steps silent"
    return f"<table>{head}{''.join('<tr>' + ''.join(f'<td>{one[name]}' for name in names) for one in bars)}</table>"


def _bars(importance: Mapping[str, float]) -> str:
    most = max(importance.values(), default=1.0)
    rows = (
        f"<tr><td>{escape(name)}<td>{share}"
        f"<td><svg width=300 height=12><rect width={300 * share / most:.0f} height=12 /></svg>"
        for name, share in list(importance.items())[:_FEATURES]
    )
    return f"<table>{''.join(rows)}</table>"
