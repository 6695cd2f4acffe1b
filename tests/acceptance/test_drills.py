"""A short form of every drill: each ends without effect, or the fault is named. `make drill` runs the long ones."""

from __future__ import annotations

import pytest

from drills.register import DRILLS
from drills.scene import DEGRADED, NO_EFFECT, REFUSED, Size

SHORT = Size(events=120, kills=1)
ENDS = {NO_EFFECT, DEGRADED, REFUSED}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", [name for name in DRILLS if name != "soak"])
def test_no_drill_ends_in_silence(tmp_path, name):
    outcome = DRILLS[name](tmp_path, SHORT)
    assert outcome.ended in ENDS
    assert bool(outcome.said) is (outcome.ended != NO_EFFECT)
