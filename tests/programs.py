"""Programs that tests need and that no Python package brings."""

from __future__ import annotations

import os
import shutil

import pytest


def needed(program: str, package: str) -> str:
    """The program. A machine without it cannot say whether this works; CI has it, so there its absence is a failure."""
    found = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if not found and not os.environ.get("CI"):
        pytest.skip(f"{program} is not installed (Debian package {package}); CI has it")
    assert found, f"CI lacks {program}: install {package} in .ci/run"
    return found
