"""The status that stands for a daemon which is not there."""

from __future__ import annotations

from typing import Final

from beforehand.messages.outbound import Status

LOST: Final = Status(state="offline", reason="the connection was lost").model_dump_json().encode()
"""The last will."""
STOPPED: Final = Status(state="offline", reason="the daemon was stopped").model_dump_json().encode()
"""Published before an orderly end."""
