"""The report of an experiment as one HTML page: no script, no file beside it, readable in print and in the dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from beforehand.experiment.analysis import Analysis, Comparison, Sizes
from beforehand.experiment.verdict import Verdict

_WIDE: Final = 640
_HIGH: Final = 240
_LEFT: Final = 70
_BELOW: Final = 30
_STYLE: Final = """
:root { color-scheme: light dark; --line: #888; --main: #2563a8; --harm: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --main: #7db4ee; --harm: #f2a7a1; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
td, th { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid var(--line); }
td:first-child, th:first-child { text-align: left; } svg { width: 100%; max-width: 40rem; height: auto; }
svg text { font-size: 12px; fill: currentColor; } .verdict { font-size: 1.3rem; } .harm { color: var(--harm); }
""".strip()


def page_of(analysis: Analysis, verdict: Verdict, silence: Sequence[dict[str, Any]]) -> str:
    """The whole page. On a sample ratio mismatch it shows no effect."""
    experiment = analysis.experiment
    body = [
        f"<h1>{escape(experiment.name)}</h1>",
        f"<p>{escape(experiment.why)}</p>" if experiment.why else "",
        _verdict(verdict),
        "<h2>Sizes of the arms</h2>",
        *(_sizes(sizes, what) for what, sizes in analysis.stages),
    ]
    if not analysis.mismatch:
        body += ["<h2>Effects</h2>", _table(analysis.comparisons)]
        body += [_plot(one, experiment.effect) for one in analysis.primary if one.looks]
        guarded = [one for one in analysis.comparisons if one.harm is not None]
        body += ["<h2>Guardrails</h2>", *map(_guardrail, guarded)] if guarded else []
    if silence:
        body += ["<h2>Packets that were held back at random</h2>", _rows(silence)]
    title = f"{escape(experiment.name)}: {verdict.decision}"
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'


def _verdict(verdict: Verdict) -> str:
    arm = f" {escape(verdict.arm)}" if verdict.arm else ""
    needed = "" if verdict.needed is None else f"<li>about {verdict.needed:,} further units are needed</li>"
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in verdict.reasons)
    return f'<p class="verdict"><strong>{verdict.decision}</strong>{arm}</p><ul>{reasons}{needed}</ul>'


def _sizes(sizes: Sizes, what: str) -> str:
    """One bar for each arm, with a mark where its share would end."""
    most = max([*sizes.counts, 1])
    whole = sum(sizes.counts)
    bars = []
    for row, (arm, count, share) in enumerate(zip(sizes.arms, sizes.counts, sizes.shares, strict=True)):
        top, reach = 22 * row + 6, 400 * count / most
        mark = 150 + 400 * whole * share / most
        bars.append(
            f'<text x="140" y="{top + 12}" text-anchor="end">{escape(arm)}</text>'
            f'<rect x="150" y="{top}" width="{reach:.1f}" height="16" fill="var(--main)"/>'
            f'<text x="{155 + reach:.1f}" y="{top + 12}">{count:,}</text>'
            f'<line x1="{mark:.1f}" x2="{mark:.1f}" y1="{top - 2}" y2="{top + 18}" stroke="currentColor"/>'
        )
    high = 22 * len(sizes.arms) + 10
    alarm = ' <strong class="harm">sample ratio mismatch</strong>' if sizes.mismatch else ""
    said = f"p {sizes.p_always:.3g} at any look, {sizes.p_chi_square:.3g} at one (chi-square){alarm}"
    return f'<p>{what}: {said}</p><svg viewBox="0 0 {_WIDE} {high}" role="img">{"".join(bars)}</svg>'


def _table(comparisons: Iterable[Comparison]) -> str:
    rows = [
        {
            "metric": f"{one.metric.name} ({one.metric.role})",
            "arm": one.arm,
            "control": f"{one.control:.4g}",
            "treated": f"{one.treated:.4g}",
            "effect": f"{one.interval.estimate:+.4g}",
            "at any look": f"{one.interval.low:+.4g} to {one.interval.high:+.4g}",
            "at one look": f"{one.interval.fixed_low:+.4g} to {one.interval.fixed_high:+.4g}",
            "p, any look (Holm)": f"{one.holm:.3g}",
            "units": f"{one.units:,}",
            "without a value": " / ".join(map(str, one.unknown)),
            "interval shorter by": f"{one.shrunk:.0%}",
        }
        for one in comparisons
    ]
    return _rows(rows)


def _rows(rows: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = ("<tr>" + "".join(f"<td>{escape(str(row.get(name, '')))}</td>" for name in names) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def _plot(one: Comparison, matters: float) -> str:
    """The effect over time: the sequence as a band, one look's interval as dashes, 0 and the effect that matters."""
    looks = one.looks
    last = looks[-1].units
    steady = looks[len(looks) // 6 :]
    top = max([matters, *(look.interval.high for look in steady)])
    low = min([-matters, *(look.interval.low for look in steady)])

    def x(units: float) -> float:
        return _LEFT + (_WIDE - _LEFT - 10) * units / last

    def y(value: float) -> float:
        return 8 + (_HIGH - _BELOW - 8) * (top - min(max(value, low), top)) / (top - low)

    def path(values: Iterable[tuple[int, float]]) -> str:
        return " ".join(f"{x(units):.1f},{y(value):.1f}" for units, value in values)

    upper = [(look.units, look.interval.high) for look in looks]
    lower = [(look.units, look.interval.low) for look in looks]
    dashed = 'fill="none" stroke="currentColor" stroke-dasharray="3 3" opacity=".6"'
    drawn = 'fill="none" stroke="var(--main)" stroke-width="2"'
    parts = [
        f'<polygon points="{path([*upper, *reversed(lower)])}" fill="var(--main)" opacity=".25"/>',
        f'<polyline points="{path((look.units, look.interval.fixed_high) for look in looks)}" {dashed}/>',
        f'<polyline points="{path((look.units, look.interval.fixed_low) for look in looks)}" {dashed}/>',
        f'<polyline points="{path((look.units, look.interval.estimate) for look in looks)}" {drawn}/>',
        *(_level(y(value), f"{value:+.3g}") for value in (-matters, 0.0, matters)),
        f'<text x="{_WIDE - 10}" y="{_HIGH - 8}" text-anchor="end">{last:,} units</text>',
    ]
    title = f"{escape(one.metric.name)}, {escape(one.arm)} less control"
    note = "band: holds at every look; dashes: of one look alone"
    return f'<h3>{title}</h3><p>{note}</p><svg viewBox="0 0 {_WIDE} {_HIGH}" role="img">{"".join(parts)}</svg>'


def _level(at: float, name: str) -> str:
    line = f'<line x1="{_LEFT}" x2="{_WIDE - 10}" y1="{at:.1f}" y2="{at:.1f}" stroke="var(--line)"/>'
    return f'{line}<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{name}</text>'


def _guardrail(one: Comparison) -> str:
    """How much worse the metric is, at least and at most, beside its margin."""
    least, most = one.harm or (0.0, 0.0)
    margin = one.metric.margin or 0.0
    reach = max(abs(least), abs(most), margin) * 1.1

    def x(value: float) -> float:
        return 320 + 300 * value / reach

    shade = "var(--harm)" if most > margin else "var(--main)"
    parts = [
        f'<line x1="{x(least):.1f}" x2="{x(most):.1f}" y1="20" y2="20" stroke="{shade}" stroke-width="6"/>',
        f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="8" y2="32" stroke="currentColor"/>',
        f'<line x1="{x(margin):.1f}" x2="{x(margin):.1f}" y1="4" y2="36" stroke="var(--harm)"/>',
        f'<text x="{x(margin):.1f}" y="48" text-anchor="middle">margin {margin:g}</text>',
    ]
    said = f"{escape(one.metric.name)}, {escape(one.arm)}: worse by {least:.4g} at least, {most:.4g} at most"
    return f'<p>{said}</p><svg viewBox="0 0 {_WIDE} 54" role="img">{"".join(parts)}</svg>'
