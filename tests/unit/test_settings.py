"""Settings: file, environment, flags; and errors that say what would be right."""

import pytest

from beforehand import configuration
from beforehand.assembly import policy_of
from beforehand.errors import SettingsError
from beforehand.trigger.policy import APPETITES


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_flags_go_over_environment_over_file(tmp_path, monkeypatch):
    file = tmp_path / "chosen.toml"
    file.write_text('[broker]\nhost = "file"\nport = 1\nusername = "file"\n')
    monkeypatch.setenv("BEFOREHAND_BROKER__HOST", "environment")
    monkeypatch.setenv("BEFOREHAND_BROKER__PORT", "2")
    broker = configuration.load(file, broker={"host": "flag"}).broker
    assert (broker.host, broker.port, broker.username) == ("flag", 2, "file")


def test_the_file_here_is_read_when_none_is_named(tmp_path):
    (tmp_path / "beforehand.toml").write_text("[policy]\nhorizon = 5\n")
    assert configuration.load().policy.horizon == 5


def test_without_anything_the_defaults_of_the_contract_hold():
    policy = configuration.load().policy
    assert (policy.horizon, policy.budget_tokens, policy.window_events) == (2, 512, 0)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"broker": {"hostt": "x"}}, "setting broker.hostt: no such setting. Did you mean host?"),
        ({"brokr": {}}, "setting brokr: no such setting. Did you mean broker?"),
        ({"broker": {"zzz": 1}}, "`beforehand config show` lists all settings."),
        ({"policy": {"horizon": 0}}, "Give an integer from 1 to 8."),
        ({"broker": {"protocol": "4"}}, "Give one of 5, 3.1.1."),
        ({"broker": {"port": 99_999}}, "Give an integer from 1 to 65535."),
        ({"broker": {"root": "a/#"}}, "setting broker.root: 'a/#' cannot start a topic."),
        ({"broker": {"root": "$SYS"}}, "cannot start a topic"),
        ({"broker": {"root": ""}}, "cannot start a topic"),
        ({"broker": {"root": "a/"}}, "cannot start a topic"),
        ({"broker": {"name": "n" * 129}}, "setting broker.name: 129 bytes in UTF-8. Send at most 128 bytes."),
        ({"broker": {"socket": "/run/mqtt", "host": "x"}}, "setting broker.socket: both a socket and a host or port."),
        ({"broker": {"tls_key": "key.pem"}}, "setting broker.tls_cert: tls_key without tls_cert."),
        ({"broker": {"tls_cert": "cert.pem"}}, "setting broker.tls_key: tls_cert without tls_key."),
        (
            {"language_model": {"base_url": "https://llm/v1"}},
            "setting language_model.model: `base_url` without `model`.",
        ),
        ({"language_model": {"base_url": "llm/v1", "model": "m"}}, "setting language_model.base_url: the address"),
        ({"language_model": {"base_url": "https://me:key@llm/v1", "model": "m"}}, "and the key by `key_env`."),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_with_what_would_be_right(flags, says):
    with pytest.raises(SettingsError) as refused:
        configuration.load(**flags)
    assert says in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"no settings file .*gone\.toml"):
        configuration.load(tmp_path / "gone.toml")


def test_a_file_that_is_no_toml_is_named(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text("broker = [")
    with pytest.raises(SettingsError, match=r"settings file .*broken\.toml: .*Write it as TOML"):
        configuration.load(file)


def test_a_password_is_not_shown():
    loaded = configuration.load(broker={"password": "hunter2"})
    assert "hunter2" not in repr(loaded)
    assert loaded.broker.password.get_secret_value() == "hunter2"


def test_d5_a_variable_that_is_no_json_is_named_with_the_json_that_was_meant(monkeypatch):
    monkeypatch.setenv("BEFOREHAND_POLICY__PACKS", "core, mine.yaml")
    with pytest.raises(SettingsError) as refused:
        configuration.load()
    assert refused.value.problem == "environment variable BEFOREHAND_POLICY__PACKS: 'core, mine.yaml' is not JSON."
    assert refused.value.advice == 'Write it as JSON, such as ["core","mine.yaml"].'


@pytest.mark.parametrize(
    ("variable", "advice"),
    [
        ("BEFOREHAND_POLCY__BUDGET_TOKENS", "Did you mean BEFOREHAND_POLICY__BUDGET_TOKENS?"),
        ("BEFOREHAND_POLICY__BUDGET", "Did you mean BEFOREHAND_POLICY__BUDGET_TOKENS?"),
        ("beforehand_zzz", "BEFOREHAND_BROKER__HOST"),
    ],
)
def test_d6_a_variable_that_is_no_setting_is_an_error_with_the_nearest_name(monkeypatch, variable, advice):
    monkeypatch.setenv(variable, "3")
    with pytest.raises(SettingsError) as refused:
        configuration.load()
    assert f"environment variable {variable}: no such setting." in str(refused.value)
    assert advice in str(refused.value)


@pytest.mark.parametrize("appetite", ["frugal", "balanced", "generous"])
def test_an_appetite_sets_what_is_not_set_by_hand(appetite):
    policy = policy_of(configuration.load(policy={"appetite": appetite, "threshold": 0.33}).policy)
    known = APPETITES[appetite]
    assert (policy.threshold, policy.token_price, policy.bar) == (0.33, known.token_price, known.bar)


def test_an_appetite_that_is_none_is_refused_with_those_that_there_are():
    with pytest.raises(SettingsError, match=r"policy\.appetite.*balanced"):
        configuration.load(policy={"appetite": "ravenous"})


def test_the_key_of_a_language_model_is_no_setting(monkeypatch):
    monkeypatch.setenv("LLM_KEY", "sk-do-not-tell")
    loaded = configuration.load(language_model={"base_url": "https://llm/v1", "model": "m", "key_env": "LLM_KEY"})
    assert "sk-do-not-tell" not in loaded.model_dump_json()
    assert loaded.language_model.key_env == "LLM_KEY"
