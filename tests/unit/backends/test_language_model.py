"""The endpoint of a language model: what is sent, what is read of its answer, and that the key stays where it is."""

from __future__ import annotations

import logging

import pytest

from beforehand import limits
from beforehand.backends.language_model import ChatEndpoint
from beforehand.errors import LanguageModelError
from beforehand.settings import LanguageModelSettings
from language_models import endpoint, named

pytestmark = pytest.mark.anyio

KEY = "sk-do-not-tell"


async def ask(url, **fields):
    model = ChatEndpoint(LanguageModelSettings.model_validate(named(url, **fields)))
    async with model.open():
        return await model.complete("read", "{}")


async def test_a_request_names_the_model_and_bounds_its_answer():
    async with endpoint() as far:
        far.says("yes")
        await ask(far.url)
        await ask(f"{far.url}/", answer_tokens=99, answer_tokens_field="max_completion_tokens")
        first, second = far.requests
        assert (first["model"], first["max_tokens"]) == ("tiny", 800)
        assert second["max_completion_tokens"] == 99
        assert "max_tokens" not in second
        assert "authorization" not in far.headers[0]


async def test_the_key_is_read_from_the_environment_and_stands_in_no_error_and_no_log(monkeypatch, caplog):
    monkeypatch.setenv("LLM_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    async with endpoint() as far:
        far.says(status=401, raw=f'{{"error": "Incorrect key {KEY}"}}'.encode())
        with pytest.raises(LanguageModelError) as failure:
            await ask(far.url, key_env="LLM_KEY")
        assert far.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(failure.value)
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", ["", "  ", "sk-\nX-Other: 1", "ключ"])
async def test_what_is_no_key_is_not_sent(monkeypatch, key):
    monkeypatch.setenv("LLM_KEY", key)
    async with endpoint() as far:
        with pytest.raises(LanguageModelError, match="LLM_KEY holds no key"):
            await ask(far.url, key_env="LLM_KEY")
        assert far.requests == []


async def test_an_answer_without_words_is_an_empty_one():
    async with endpoint() as far:
        far.says(raw=b'{"choices": [{"message": {"content": null}}]}')
        assert (await ask(far.url)).text == ""


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"choices": []}', b'{"choices": [{"message": {"content": 7}}]}']
)
async def test_what_is_no_completion_is_named(body):
    async with endpoint() as far:
        far.says(raw=body)
        with pytest.raises(LanguageModelError, match="did not answer as chat completions do"):
            await ask(far.url)


async def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(limits, "ANSWER_BYTES", 1_000)
    async with endpoint() as far:
        far.says("x" * 1_000_000)
        with pytest.raises(LanguageModelError, match="did not answer as chat completions do"):
            await ask(far.url)


async def test_nobody_at_the_address_is_named():
    with pytest.raises(LanguageModelError, match="cannot be reached") as failure:
        await ask("http://127.0.0.1:9/v1")
    assert failure.value.passing


async def test_it_follows_no_redirection():
    async with endpoint() as far:
        far.says(status=302)
        with pytest.raises(LanguageModelError, match="answered 302"):
            await ask(far.url)
