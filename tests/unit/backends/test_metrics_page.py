"""The metrics over HTTP, for as long as the daemon runs."""

from __future__ import annotations

import urllib.request
from urllib.error import URLError

import pytest

from beforehand.backends.measures import PrometheusMeasures, metrics_page
from beforehand.errors import SettingsError
from beforehand.settings import MetricsSettings


def test_c9_metrics_are_served_while_the_daemon_runs_and_no_longer():
    measures = PrometheusMeasures()
    measures.count("beforehand_gaps_total", 3)
    with metrics_page(measures, MetricsSettings(port=0)) as url:
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url) as page:
            assert "beforehand_gaps_total 3.0" in page.read().decode()
    with pytest.raises(URLError):
        urllib.request.urlopen(url)


def test_c9_without_a_port_nothing_listens():
    with metrics_page(PrometheusMeasures(), MetricsSettings()) as url:
        assert url is None


def test_c9_a_port_in_use_is_named():
    with metrics_page(PrometheusMeasures(), MetricsSettings(port=0)) as url:
        port = int(url.split(":")[2].split("/")[0])
        with (
            pytest.raises(SettingsError, match=rf"metrics\.port: port {port} of 127\.0\.0\.1"),
            metrics_page(PrometheusMeasures(), MetricsSettings(port=port)),
        ):
            pass
