"""The command `beforehand experiment`: from a file to a verdict, with advice on the way."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from beforehand import assembly
from beforehand.backends.experiment_files import Register
from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli import experiment, experiment_analysis
from beforehand.cli.main import app
from beforehand.messages.topics import Scope
from beforehand.settings import Settings
from stage import Stage
from unit.training.test_observing import worked

DEFINITION = """
name = "quiet"
why = "Do packets help at all <so far>?"
effect = 0.2
units = 60
first_look = 20
arms = [{ name = "control" }, { name = "nobody", holdout = true }]

[[metrics]]
name = "success"
value = "outcome"
role = "primary"

[[metrics]]
name = "tokens"
value = "packet_tokens"
role = "guardrail"
better = "lower"
margin = 50
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with one definition, in which commands run."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "experiments"
    folder.mkdir()
    (folder / "quiet.toml").write_text(DEFINITION)
    (tmp_path / "beforehand.toml").write_text('[embedder]\nkind = "none"\n')
    return tmp_path


def run(*words):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["experiment", *words])


def served(place, runs=60):
    """Runs of a daemon with the started experiment: those that were told nothing fail."""

    async def play():
        settings = Settings.model_validate({"embedder": {"kind": "none"}})
        replay = assembly.replay(settings, RecordedMeasures())
        replay.pipeline.trials.arms.serve(Register(place / "experiments").read())
        journal = SqliteJournal(settings.journal, RecordedMeasures())
        await replay.clock.advance_to(4_000_000_000 * 10**6)
        async with replay.open(), journal.open():
            stage = Stage(replay, RecordedMeasures())
            for number in range(runs):
                scope = Scope("shop", "anna", f"r{number}")
                packet = await worked(stage, scope, "success")
                if packet.experiment.arm == "nobody":
                    await stage.say("feedback", scope, outcome="failure")
            async for page in replay.journal.read():
                await journal.append([row.entry for row in page])
                for scope in {row.entry.scope for row in page}:
                    await journal.record(await replay.journal.packets(scope))

    asyncio.run(play())


def test_an_experiment_is_started_listed_stopped_and_not_started_twice(place):
    started = run("start", "quiet")
    assert started.exit_code == 0, started.output
    assert "control 50%, nobody 50%; 60 units planned" in started.output
    assert json.loads(run("list", "--json").stdout)[0]["experiment"]["name"] == "quiet"
    assert "running" in run("list").output
    assert run("stop", "quiet").exit_code == 0
    assert "running" not in run("list").output
    again = run("start", "quiet")
    assert again.exit_code == 1
    assert "give the new one another name" in again.output


def test_a_machine_reads_what_was_started_and_stopped(place):
    started = json.loads(run("start", "quiet", "--json").stdout)
    assert (started["experiment"]["name"], started["stopped_at"]) == ("quiet", None)
    stopped = json.loads(run("stop", "quiet", "--json").stdout)
    assert stopped["stopped_at"] > stopped["started_at"] == started["started_at"]


def test_an_arm_that_cannot_be_built_is_not_started(place):
    broken = DEFINITION.replace("holdout = true", 'policy = { packs = ["none-such"] }')
    (place / "experiments" / "quiet.toml").write_text(broken)
    refused = run("start", "quiet")
    assert refused.exit_code == 1
    assert "there is no shipped rule pack 'none-such'" in refused.output
    assert Register(place / "experiments").read() == []


def test_the_report_judges_and_is_a_table_json_and_a_page(place):
    assert run("start", "quiet").exit_code == 0
    served(place)
    told = run("report", "quiet", "--html", "report.html")
    assert told.exit_code == 0, told.output
    assert "quiet: stop" in told.output
    assert "success (primary)" in told.output
    page = (place / "report.html").read_text()
    assert page.count("<svg") >= 4
    assert "<script" not in page
    assert "&lt;so far&gt;" in page
    plain = json.loads(run("report", "quiet", "--json").stdout)
    assert plain["verdict"]["decision"] == "stop"
    assert plain["comparisons"][0]["interval"]["estimate"] == -1.0
    assert sum(plain["exposed"]["counts"]) == 60


def test_before_anything_ran_the_report_goes_on(place):
    assert run("start", "quiet").exit_code == 0
    served(place, runs=3)
    told = run("report", "quiet")
    assert "quiet: continue" in told.output
    assert "3 units with a value; the first look is at 20" in told.output
    assert run("stop", "quiet").exit_code == 0
    assert "quiet: cannot conclude" in run("report", "quiet").output


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["report", "loud"], "was started"),
        (["report"], "Name the daemon's journal"),
        (["start", "loud"], "there are: quiet"),
        (["stop", "quiet"], "Running are: none"),
        (["power", "--effect", "0.1"], "either --baseline or --deviation"),
        (["power", "--effect", "0.5", "--baseline", "0.6"], "Give an --effect from -0.6 to 0.4"),
        (["power", "--effect", "0.1", "--deviation", "0"], "Give a --deviation above 0"),
    ],
)
def test_what_cannot_be_done_is_said_with_advice(place, words, advice):
    told = run(*words)
    assert told.exit_code == 1
    assert advice in " ".join(told.output.split())


def test_power_names_units_for_one_look_and_for_any(place):
    [row] = json.loads(run("power", "--baseline", "0.55", "--effect", "0.068", "--units", "1640", "--json").stdout)
    assert row["units_one_look"] == pytest.approx(1640, abs=10)
    assert row["units_any_look"] > 1.5 * row["units_one_look"]
    assert row["power_one_look"] == pytest.approx(0.8, abs=0.005)


def test_a_simulation_shows_power_and_false_alarms(place, recorded_file):
    said = run(
        "simulate",
        str(recorded_file),
        "--effect",
        "-0.3",
        "--runs",
        "10",
        "--units",
        "600",
        "--experiments",
        "100",
        "--json",
    )
    assert said.exit_code == 0, said.output
    nothing, some = json.loads(said.stdout)
    assert (nothing["effect"], some["effect"]) == (0.0, -0.3)
    assert nothing["sequence"] <= 0.05
    assert some["sequence"] > 0.9
    assert some["covered_once"] > 0.85


@pytest.fixture
def recorded_file(request):
    return request.config.rootpath / "tests" / "data" / "runs" / "tau_retail.jsonl"


def test_without_the_statistics_the_command_says_what_to_install(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "beforehand.cli.experiment_analysis", None)
    monkeypatch.delattr(sys.modules["beforehand.cli"], "experiment_analysis", raising=False)
    told = run("power", "--effect", "0.1", "--deviation", "1")
    assert told.exit_code == 1
    assert "pip install 'beforehand[experiments]'" in told.output


def test_the_daemon_runs_without_statsmodels_and_scipys_statistics():
    code = (
        "import sys; import beforehand.cli.main, beforehand.lifecycle.serve;"
        "print([name for name in sys.modules if name in ('statsmodels', 'scipy.stats', 'pandas')])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_a_page_is_made_of_one_experiment():
    with pytest.raises(experiment.ExperimentError.__base__, match="a page is made of one experiment"):
        experiment_analysis.page(experiment_analysis.Report(None, None, None, []))
