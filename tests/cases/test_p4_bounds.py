"""P4: budgets 0, 1, -1, none, enormous, each as documented (the part of settings and of the wire)."""

import pytest

from beforehand import configuration, limits
from beforehand.errors import Refusal, SettingsError
from beforehand.messages import codec, topics

ADDRESS = topics.Address(topics.Scope("acme", "agent-1", "run-1"), "recall")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def asked(budget):
    return codec.read(ADDRESS, f'{{"budget_tokens": {budget}}}'.encode(), received_us=0, arrival_id="a").message


@pytest.mark.parametrize("budget", [0, 1, limits.BUDGET_TOKENS_MAX])
def test_p4_a_budget_from_nothing_to_the_most_is_taken(budget):
    assert asked(budget).budget_tokens == budget
    assert configuration.load(policy={"budget_tokens": budget}).policy.budget_tokens == budget


def test_p4_no_budget_is_the_default():
    assert asked("null").budget_tokens is None
    assert configuration.load().policy.budget_tokens == 512


@pytest.mark.parametrize("budget", [-1, limits.BUDGET_TOKENS_MAX + 1, 2**63, 10**30])
def test_p4_a_negative_and_an_enormous_budget_are_refused_with_the_range(budget):
    with pytest.raises(Refusal, match=r"^budget_tokens: .*an integer from 0 to 8192"):
        asked(budget)
    with pytest.raises(SettingsError, match=r"^setting policy.budget_tokens: .*an integer from 0 to 8192"):
        configuration.load(policy={"budget_tokens": budget})
