"""The drills, one after the other, on real processes and brokers: what each did to a daemon, in docs/reference.

`python -m tests.drills [NAME ...] [--events N] [--kills N] [--seed N] [--seeds N] [--processes N]`. events: of each of
two agents; kills: how often something is killed or cut in a drill; seeds, processes: of the simulation. A drill that
ends otherwise than in silence-free order fails, and says how.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "reliability.md"
MARK = "| drill | what is done | ended | what was said | figures | run |"


def main() -> None:
    """Run the drills that were asked for, and write their rows."""
    from drills.register import DRILLS  # noqa: PLC0415  its path was set below
    from drills.scene import Size, folder  # noqa: PLC0415  likewise

    asked = argparse.ArgumentParser(prog="python -m tests.drills")
    asked.add_argument("names", nargs="*", choices=[*DRILLS, []], default=[])
    asked.add_argument("--events", type=int, default=3_000)
    asked.add_argument("--kills", type=int, default=10)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--seeds", type=int, default=100_000, help="of the simulation")
    asked.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that play the simulation's seeds")
    chosen = asked.parse_args()
    size = Size(chosen.events, chosen.kills, chosen.seed, chosen.seeds, chosen.processes)
    failed = []
    for name in chosen.names or DRILLS:
        print(f"{name} ...", end=" ", flush=True)
        try:
            with folder() as place:
                outcome = DRILLS[name](place, size)
        except Exception as error:  # noqa: BLE001  the other drills are run all the same
            failed.append(name)
            print(f"FAILED: {type(error).__name__}: {error}")
            continue
        print(outcome.ended, outcome.said, outcome.figures)
        figures = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in outcome.figures.items())
        done = f"{datetime.now(UTC):%Y-%m-%d %H:%M}, seed {size.seed}, load {os.getloadavg()[0]:.1f}"
        about = (DRILLS[name].__doc__ or "").strip()
        write(name, f"| {name} | {about} | {outcome.ended} | {outcome.said or '-'} | {figures} | {done} |")
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def write(name: str, row: str) -> None:
    """Put a row into the page in the place of the drill's older one."""
    before, _, table = PAGE.read_text().partition(MARK)
    lines, _, after = table.lstrip("\n").partition("\n\n")
    rows = {line.split("|")[1].strip(): line for line in lines.splitlines()[1:]}
    rows[name] = row.replace("`", "'")
    head = [MARK, "|---|---|---|---|---|---|"]
    system = f"{platform.system()} {platform.release()}"
    machine = f"{system}, {os.cpu_count()} processors, Python {platform.python_version()}"
    lines = [line if not line.startswith("Machine: ") else f"Machine: {machine}." for line in before.splitlines()]
    PAGE.write_text("\n".join([*lines, *head, *rows.values(), "", after]).rstrip() + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))  # where tests find each other
    main()
