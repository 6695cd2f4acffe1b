"""Every drill by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from drills import disks, killing, load, network, recovery, simulated, soak, storage
from drills.scene import Outcome, Size

Drill = Callable[[Path, Size], Outcome]

DRILLS: Final[dict[str, Drill]] = {
    "kill-daemon": killing.kill_daemon,
    "kill-broker": killing.kill_broker,
    "soak": soak.soak,
    "recovery": recovery.recover,
    "kill-both": killing.kill_both,
    "restart-broker": killing.restart_broker,
    "stop-daemon": killing.stop_daemon,
    "stop-broker": killing.stop_broker,
    "start-and-kill": killing.start_and_kill,
    "network-cut": network.cut,
    "network-hangs": network.hang,
    "network-slow": network.delay,
    "disk-full": disks.full,
    "disk-refuses": disks.refused_writes,
    "disk-read-only": disks.read_only,
    "journal-taken-away": disks.taken_away,
    "page-damaged": storage.page,
    "file-cut": storage.cut_file,
    "log-cut": storage.cut_log,
    "model-cut": storage.cut_model,
    "clock-back": storage.clock_back,
    "database-locked": storage.locked,
    "backlog": load.backlog,
    "noisy-agent": load.noisy,
    "deaf-subscriber": load.deaf,
    "simulation": simulated.simulation,
}
