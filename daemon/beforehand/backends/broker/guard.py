"""Runs a broker for exactly as long as the daemon lives. Started as a script, in a process of its own.

`guard.py run USER COMMAND...` starts a command (as USER, `-` for the same) and ends it. `guard.py iotcore FILE` is the
broker itself: rumqttd has no way to stop, so its process ends.

The daemon holds the other end of standard input. The kernel closes it however the daemon ends, `kill -9` included. On
Linux the command also ends when the guard is killed alone (PR_SET_PDEATHSIG, see prctl(2)).
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_GRACE_S = 5.0


def _when_daemon_ends(then: Callable[[], None]) -> None:
    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        then()

    threading.Thread(target=wait, daemon=True).start()


def _die_with_guard() -> Callable[[], None] | None:
    """What the command does between fork and exec; the library is loaded before, where that is safe."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    guard = os.getpid()

    def before_exec() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != guard:
            os._exit(1)

    return before_exec


def run(user: str, command: list[str]) -> int:
    """Run `command` until it ends or the daemon does; its exit code."""
    child = subprocess.Popen(  # noqa: S603  the daemon wrote the command
        command,
        stdin=subprocess.DEVNULL,
        user=None if user == "-" else user,
        group=None if user == "-" else user,
        extra_groups=None if user == "-" else [],
        preexec_fn=_die_with_guard(),  # noqa: PLW1509  no other thread runs yet
    )

    def stop() -> None:
        child.terminate()
        try:
            child.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()

    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    _when_daemon_ends(stop)
    return child.wait()


def iotcore(file: str) -> int:
    """Be the broker."""
    from iotcore import IotCoreBroker  # noqa: PLC0415  only this process needs it

    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("rumqttd").setLevel(logging.CRITICAL)  # it reports its tracing of every packet as errors
    _when_daemon_ends(lambda: os._exit(0))
    IotCoreBroker(config_path=file).run_forever()
    return 1


if __name__ == "__main__":
    sys.exit(run(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "run" else iotcore(sys.argv[2]))
