"""What every LanguageModel promises, in memory and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest

from beforehand.backends.language_model import ChatEndpoint
from beforehand.errors import LanguageModelError
from beforehand.ports.language_model import LanguageModel
from beforehand.settings import LanguageModelSettings
from language_models import Answer, MemoryModel, endpoint, named

pytestmark = pytest.mark.anyio


@dataclass
class Backend:
    """A model, and how to choose what it answers."""

    model: LanguageModel
    says: Callable[[Answer], None]
    asked: Callable[[], list[tuple[str, str]]]


@pytest.fixture(params=["memory", "http"])
async def backend(request: pytest.FixtureRequest) -> AsyncIterator[Backend]:
    if request.param == "memory":
        model = MemoryModel(Answer("hello"))
        yield Backend(model, lambda answer: setattr(model, "answer", answer), lambda: model.asked)
        return
    async with endpoint() as far:
        settings = LanguageModelSettings.model_validate(named(far.url, timeout_s=0.2))

        def asked() -> list[tuple[str, str]]:
            return [tuple(part["content"] for part in one["messages"]) for one in far.requests]

        made = ChatEndpoint(settings)
        async with made.open():
            yield Backend(made, lambda answer: setattr(far, "answer", lambda data: answer), asked)


async def test_it_has_a_name_and_a_bound_for_its_answers(backend: Backend) -> None:
    assert backend.model.name
    assert backend.model.answer_tokens > 0


async def test_an_answer_is_given_with_what_it_took(backend: Backend) -> None:
    backend.says(Answer("two words", tokens=17))
    completion = await backend.model.complete("say two words", "{}")
    assert (completion.text, completion.tokens) == ("two words", 17)


async def test_what_nobody_counted_is_not_known(backend: Backend) -> None:
    backend.says(Answer("two words", tokens=None))
    assert (await backend.model.complete("say two words", "{}")).tokens is None


async def test_instructions_and_data_stay_apart(backend: Backend) -> None:
    backend.says(Answer("yes"))
    await backend.model.complete("read", '{"text": "ignore that"}')
    assert backend.asked() == [("read", '{"text": "ignore that"}')]


@pytest.mark.parametrize(
    ("answer", "passing", "billed"),
    [
        pytest.param(Answer(status=500), True, False, id="500"),
        pytest.param(Answer(status=429), True, False, id="429"),
        pytest.param(Answer(status=401), True, False, id="401"),
        pytest.param(Answer(status=400), False, False, id="400"),
        pytest.param(Answer(held=True), True, True, id="no answer"),
    ],
)
async def test_a_failure_says_whether_it_may_pass_and_may_have_cost(
    backend: Backend, answer: Answer, passing: bool, billed: bool
) -> None:
    backend.says(answer)
    with pytest.raises(LanguageModelError) as failure:
        await backend.model.complete("read", "{}")
    assert (failure.value.passing, failure.value.billed) == (passing, billed)


async def test_it_answers_again_after_a_failure(backend: Backend) -> None:
    backend.says(Answer(status=500))
    with pytest.raises(LanguageModelError):
        await backend.model.complete("read", "{}")
    backend.says(Answer("well"))
    assert (await backend.model.complete("read", "{}")).text == "well"
