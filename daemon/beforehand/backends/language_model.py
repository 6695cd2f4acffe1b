"""A language model behind an endpoint that speaks OpenAI's chat completions, as many servers do.

POST {base_url}/chat/completions   {"model", "messages": [system, user], "max_tokens"}
200                                {"choices": [{"message": {"content"}}], "usage": {"total_tokens"}}
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

import httpx2
from pydantic import BaseModel, Field, ValidationError

from beforehand import __version__, limits
from beforehand.errors import LanguageModelError
from beforehand.ports.language_model import Completion
from beforehand.settings import LanguageModelSettings

_REFUSED: Final = frozenset({400, 413, 422})
"""What an endpoint answers when it is this request that it does not take; all else may be otherwise later."""


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message


class _Usage(BaseModel):
    total_tokens: Annotated[int, Field(ge=0)]


class _Body(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None


class ChatEndpoint:
    """One endpoint. The key is read from the environment with each request, and stands nowhere else."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        self._settings = settings
        self._client: httpx2.AsyncClient | None = None

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._settings.model or ""

    @property
    def answer_tokens(self) -> int:
        """As the settings have it."""
        return self._settings.answer_tokens

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Connections are kept while this lasts."""
        agent = {"User-Agent": f"beforehand/{__version__}"}
        async with httpx2.AsyncClient(timeout=self._settings.timeout_s, headers=agent) as self._client:
            yield

    async def complete(self, instructions: str, data: str) -> Completion:
        """One request. Neither the answer's text nor the key is part of an error: an endpoint may repeat the key."""
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                status, body = await self._post(self._request(instructions, data), self._headers())
        except (TimeoutError, httpx2.TimeoutException):
            raise LanguageModelError(
                f"the language model did not answer within {self._settings.timeout_s:g} s.",
                "Raise `language_model.timeout_s`, or look at the endpoint.",
                passing=True,
                billed=True,
            ) from None
        except httpx2.HTTPError as error:
            raise LanguageModelError(
                f"the language model cannot be reached ({type(error).__name__}).",
                "Look at `language_model.base_url`.",
                passing=True,
            ) from None
        if status != httpx2.codes.OK:
            raise LanguageModelError(
                f"the language model answered {status}.",
                "Look at the endpoint, the model's name and the key.",
                passing=status not in _REFUSED,
            )
        return _completion(body)

    def _request(self, instructions: str, data: str) -> dict[str, Any]:
        return {
            "model": self._settings.model,
            "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": data}],
            self._settings.answer_tokens_field: self._settings.answer_tokens,
        }

    def _headers(self) -> dict[str, str]:
        named = self._settings.key_env
        if named is None:
            return {}
        key = os.environ.get(named, "").strip()
        if not key.isascii() or not key.isprintable() or not key:
            raise LanguageModelError(
                f"the environment variable {named} holds no key.",
                "Set it and restart the daemon, or leave `language_model.key_env` out.",
                passing=True,
            )
        return {"Authorization": f"Bearer {key}"}

    async def _post(self, request: dict[str, Any], headers: dict[str, str]) -> tuple[int, bytes]:
        """Status and body, of which limits.ANSWER_BYTES are read."""
        assert self._client is not None  # noqa: S101  asked between open and close alone
        url = f"{(self._settings.base_url or '').rstrip('/')}/chat/completions"
        async with self._client.stream("POST", url, json=request, headers=headers) as response:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > limits.ANSWER_BYTES:
                    break
            return response.status_code, bytes(body)


def _completion(body: bytes) -> Completion:
    try:
        read = _Body.model_validate_json(body)
    except ValidationError:
        raise LanguageModelError(
            "the endpoint did not answer as chat completions do.",
            "Look at `language_model.base_url`: it ends before /chat/completions.",
            passing=True,
            billed=True,
        ) from None
    return Completion(read.choices[0].message.content or "", None if read.usage is None else read.usage.total_tokens)
