"""What every test may ask for."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Tests that wait run on asyncio's loop."""
    return "asyncio"
