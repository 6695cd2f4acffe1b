"""The recipe of the default trigger model.

    python models/trigger/train.py DATA [--keep FOLDER]
    python models/trigger/train.py DATA --without SET [--adapt 0.2] --into FOLDER

DATA holds a folder for each set with `traj.jsonl.gz` (see models/trigger/default/README.md for the sets and their
licences). Only training parts are read. The same data and seed give the same model. The second form is for measuring
(docs/reference/foresight.md).
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable
from pathlib import Path

from beforehand import assembly
from beforehand.cli.train import train
from beforehand.settings import Settings
from beforehand.training.collecting import Setting
from beforehand.training.fitting import Recipe
from beforehand.training.making import Source
from beforehand.training.trajectories import Trajectory, read

HERE = Path(__file__).parent
SEED = 7
SETTINGS = (Setting.SINGLE, Setting.INTERLEAVED, Setting.LIVES, Setting.LABELLED)


def task(run: Trajectory) -> int:
    """The number at the end of a run's id."""
    found = re.search(r"(\d+)$", run.id)
    return int(found[1]) if found else 0


SOURCES: dict[str, tuple[Callable[[Trajectory], bool], tuple[int, int, int, int]]] = {
    "sgd_train": (lambda _: True, (250, 120, 200, 120)),
    "bfcl_multi_turn_gold": (lambda run: task(run) < 150, (200, 120, 160, 100)),
    "tau_retail_gold": (lambda run: run.split == "train", (250, 150, 60, 40)),
    "scienceworld_gold": (lambda run: run.split == "train", (18, 10, 12, 10)),
}
"""Set -> which runs are training runs, and how many are played in each of SETTINGS."""

MEASURED: dict[str, tuple[Callable[[Trajectory], bool], tuple[int, int, int, int]]] = {
    "apibank": (lambda run: task(run) % 2 == 0, (120, 60, 51, 30)),
    "intercode_bash": (lambda run: task(run) % 2 == 0, (700, 400, 302, 200)),
}
"""Sets of which the released model has seen nothing: only what `--adapt` takes of them is fitted."""


def main() -> None:
    """Collect, fit, compare with the model in use, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--into", type=Path, default=HERE / "default")
    parser.add_argument(
        "--without", choices=[*SOURCES, *MEASURED], help="fit nothing of this set, to measure on what was never seen"
    )
    parser.add_argument("--adapt", type=float, default=0.0, help="with --without: fit this share of its runs after all")
    parser.add_argument("--force", action="store_true")
    given = parser.parse_args()
    if given.without and given.into == HERE / "default":
        parser.error("--without measures: say with --into where its model goes, or it would replace the default one")
    sources = []
    measured = {name: MEASURED[name] for name in MEASURED if name == given.without}
    for name, (taught, counts) in (SOURCES | measured).items():
        runs = [run for run in read(given.data / name / "traj.jsonl.gz") if taught(run)]
        random.Random(SEED).shuffle(runs)  # noqa: S311  a sample of runs, not a secret
        share = given.adapt if name == given.without else 1.0
        played = [round(share * count) for count in counts]
        sources.append(Source(name, runs, dict(zip(SETTINGS, played, strict=True))))
    train(
        sources,
        given.into,
        given.into.name,
        Recipe(seed=SEED),
        assembly.trigger_model(Settings()),
        keep=given.keep,
        force=given.force,
        without="" if given.adapt else given.without or "",
    )


if __name__ == "__main__":
    main()
