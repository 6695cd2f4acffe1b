"""Trees fitted on a cluster are as good as those fitted here."""

import numpy as np
import pytest
from distributed import LocalCluster
from typer.testing import CliRunner

from beforehand.cli import train as command
from beforehand.cli.main import app
from beforehand.training import spreading
from beforehand.training.collecting import Rows
from beforehand.training.fitting import Recipe, fit_trees, margins
from beforehand.training.ranking import auc
from beforehand.training.spreading import fit_trees_on
from beforehand.trigger.features import NAMES
from recorded import RUNS


@pytest.fixture(scope="module")
def cluster():
    """Two workers in this process."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as running:
        yield running.scheduler_address


def rows(count: int, seed: int) -> Rows:
    """A candidate carries when its first feature is high, give or take."""
    draw = np.random.default_rng(seed)
    features = draw.random((count, len(NAMES)), dtype=np.float32)
    return Rows(
        features, (features[:, 0] + 0.2 * draw.standard_normal(count) > 0.8).astype(int), np.arange(count) // 50
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_cluster_fits_trees_that_rank_as_well_as_those_of_one_machine(cluster):
    taught, held = rows(4_000, 1), rows(2_000, 2)
    recipe, weights = Recipe(trees=20), np.ones(4_000, np.float32)
    there = auc(margins(fit_trees_on(cluster, taught, recipe, weights), held.features), held.labels > 0)
    here = auc(margins(fit_trees(taught, recipe, weights), held.features), held.labels > 0)
    assert here > 0.85
    assert abs(there - here) < 0.02


def training(folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = ["train", str(RUNS / "bfcl.jsonl"), "--into", "mine", "--dask", "tcp://127.0.0.1:1"]
    result = CliRunner().invoke(app, words)
    assert not (folder / "mine").exists()
    return result.exit_code, " ".join(result.output.split())


def test_a_cluster_that_does_not_answer_is_said_before_anything_is_collected(tmp_path, monkeypatch):
    monkeypatch.setattr(spreading, "ANSWER_S", 0.2)
    code, said = training(tmp_path, monkeypatch)
    assert code == 1
    assert "no Dask cluster answers at tcp://127.0.0.1:1." in said


def test_without_the_extra_it_is_said_how_to_install_it(tmp_path, monkeypatch):
    def absent(_):
        raise ModuleNotFoundError(name="dask")

    monkeypatch.setattr(command, "import_module", absent)
    assert training(tmp_path, monkeypatch) == (
        1,
        "error there is no dask. Install the extra: pip install 'beforehand[dask]'.",
    )
