"""Runs woven into one, as an agent meets them that serves several people in one long run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from beforehand.training.trajectories import Trajectory


def woven(runs: Sequence[Trajectory], *, labelled: bool, seed: int = 0) -> Trajectory:
    """One run made of `runs`, in blocks that end after a result; which run goes on is drawn at random.

    labelled: give events and steps the label (`space`) of the run that they come from.
    """
    draw = random.Random(seed)  # noqa: S311  which run goes on, not a secret
    waiting = [(f"r{number}", list(_blocks(run))) for number, run in enumerate(runs)]
    events: list[dict[str, Any]] = []
    spaces: list[str] = []
    while waiting := [(label, blocks) for label, blocks in waiting if blocks]:
        label, blocks = draw.choice(waiting)
        block = blocks.pop(0)
        events += block
        spaces += [label] * len(block)
    first = runs[0]
    return Trajectory(
        id=f"{first.id}+{len(runs) - 1}",
        source=first.source,
        domain=first.domain,
        events=tuple(events),
        needs_of=first.needs_of,
        split=first.split,
        spaces=tuple(spaces) if labelled else (),
        silent=first.silent,
    )


def weave(runs: Sequence[Trajectory], *, together: int = 10, labelled: bool, seed: int = 0) -> list[Trajectory]:
    """All `runs`, shuffled and woven `together` at a time; what is left over makes a smaller weave."""
    order = list(runs)
    random.Random(seed).shuffle(order)  # noqa: S311  a seeded draw, no secret
    return [woven(group, labelled=labelled, seed=seed + n) for n, group in enumerate(_grouped(order, together))]


def _blocks(run: Trajectory) -> Iterator[list[dict[str, Any]]]:
    block: list[dict[str, Any]] = []
    for event in run.events:
        block.append(event)
        if event["type"] == "result":
            yield block
            block = []
    if block:
        yield block


def _grouped(runs: list[Trajectory], size: int) -> Iterator[list[Trajectory]]:
    return (runs[start : start + size] for start in range(0, len(runs), size))
