"""Experiments that are started and stopped while a daemon runs."""

from datetime import UTC, datetime

from beforehand.backends.experiment_files import Register
from beforehand.experiment.definition import Experiment
from beforehand.messages.topics import Scope
from memory_daemon import playing

START = datetime(1970, 1, 1, tzinfo=UTC)


def trial(name, policy):
    return Experiment.model_validate(
        {
            "name": name,
            "arms": [{"name": "a"}, {"name": "b", "policy": policy}],
            "metrics": [{"name": "outcome", "value": "outcome", "role": "primary"}],
            "effect": 0.1,
            "units": 100,
        }
    )


def arm_of(world, run="r1"):
    """The arm of a run that began now."""
    session = type("Session", (), {"scope": Scope("shop", "anna", run), "began_us": 10**9})()
    served = world.pipeline.trials.arms.of(session)
    return served.assignment and served.assignment.arm


def test_what_is_started_is_served_from_the_next_look_on_and_what_is_stopped_no_more(tmp_path):
    register = Register(tmp_path)

    async def play(world):
        assert arm_of(world) is None
        register.start(trial("one", {"bar": 0.1}), START)
        assert await world.daemon.enrolling.look()
        assert arm_of(world) in {"a", "b"}
        assert not await world.daemon.enrolling.look()
        register.stop("one", START)
        assert await world.daemon.enrolling.look()
        assert arm_of(world) is None

    playing(play, experiments={"folder": tmp_path})


def test_a_daemon_that_starts_serves_what_runs(tmp_path):
    Register(tmp_path).start(trial("one", {"bar": 0.1}), START)

    async def play(world):
        assert arm_of(world) in {"a", "b"}

    playing(play, experiments={"folder": tmp_path})


def test_an_experiment_whose_arm_cannot_be_built_is_left_out_whole_and_counted(tmp_path):
    register = Register(tmp_path)

    async def play(world):
        register.start(trial("one", {"bar": 0.1}).model_copy(update={"slot": [0.0, 0.5]}), START)
        register.start(trial("two", {"packs": ["no-such-pack"]}).model_copy(update={"slot": [0.5, 1.0]}), START)
        assert await world.daemon.enrolling.look()
        arms = {arm_of(world, f"r{number}") for number in range(40)}
        assert arms == {"a", "b", None}
        assert world.measures.value("beforehand_failures_total", part="experiments") == 1

    playing(play, experiments={"folder": tmp_path})


def test_a_register_that_cannot_be_read_changes_nothing(tmp_path):
    register = Register(tmp_path)

    async def play(world):
        register.start(trial("one", {"bar": 0.1}), START)
        await world.daemon.enrolling.look()
        (tmp_path / "running.json").write_text("{")
        assert not await world.daemon.enrolling.look()
        assert arm_of(world) in {"a", "b"}

    playing(play, experiments={"folder": tmp_path})
