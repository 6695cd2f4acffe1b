"""What every test may ask for."""

from __future__ import annotations

import pytest
import structlog


@pytest.fixture
def anyio_backend() -> str:
    """Tests that wait run on asyncio's loop."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _logging_as_it_was():
    """A command that runs within a test says where its logs go; the next test does not inherit that."""
    yield
    structlog.reset_defaults()
