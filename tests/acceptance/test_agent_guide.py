"""The blocks of docs/guides/agent.md do what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import brokers
from beforehand import limits
from processes import up

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "agent.md").read_text()
BLOCKS = re.findall(r"```(python|sh)\n(.*?)```", GUIDE, re.DOTALL)
WHOLE = [block for block in BLOCKS if "import" in block[1] or block[0] == "sh"]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guide")
    (folder / "broker").mkdir()
    with (
        pytest.MonkeyPatch.context() as patch,
        brokers.running("mosquitto", folder / "broker") as broker,
    ):
        patch.setenv("BEFOREHAND_POLICY__GAP_WAIT_S", "1")
        with up(folder, port=broker.port):
            yield broker.port


@pytest.mark.parametrize("block", WHOLE, ids=["async", "plain", "mosquitto", "scenes"])
def test_each_block_plays_its_run(block, port):
    language, text = block
    text = re.sub(r"\b1883\b", str(port), text).replace("deadline_ms=500", "deadline_ms=30000")
    text = text.replace("mosquitto_pub", "sleep 0.3; mosquitto_pub")
    command = ["sh", "-ec", text] if language == "sh" else [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"W771[2345]", done.stdout)
    assert done.stdout.find("W7716") == -1 or done.stdout.find("W7715") < done.stdout.find("W7716")


def test_the_figures_are_those_of_the_product():
    assert f"{limits.OUTBOX_MESSAGES:,} messages or {limits.OUTBOX_BYTES // 1_048_576} MiB" in GUIDE
    assert limits.LINGER_S == 1.0
    assert "(one second)" in GUIDE
