"""Recorded runs of other people's agents, and a replay to play them through."""

from pathlib import Path

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.replay import Replay
from beforehand.settings import EmbedderSettings, PolicySettings, Settings
from beforehand.training.trajectories import Trajectory, read

RUNS = Path(__file__).parent / "data" / "runs"


def recorded(name: str) -> list[Trajectory]:
    return read(RUNS / f"{name}.jsonl")


def quick_replay(model: str = "none", budget_tokens: int = 256) -> Replay:
    """Without vectors, which these runs do not need."""
    policy = PolicySettings(model=model, budget_tokens=budget_tokens)
    return assembly.replay(Settings(policy=policy, embedder=EmbedderSettings(kind="none")), RecordedMeasures())
