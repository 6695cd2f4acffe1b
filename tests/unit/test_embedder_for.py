"""Choosing an embedder by its setting."""

from typing import get_args

import pytest

from beforehand import shipped
from beforehand.backends.embedders import HashingEmbedder, StaticEmbedder, embedder_for
from beforehand.errors import EmbedderError, NotFound
from beforehand.settings import EmbedderSettings

MADE = {"static": StaticEmbedder, "hashing": HashingEmbedder, "none": type(None)}


def test_the_settings_offer_just_these_kinds() -> None:
    assert set(get_args(EmbedderSettings.model_fields["kind"].annotation)) == set(MADE)


@pytest.mark.parametrize("kind", MADE)
def test_each_kind_of_the_settings_has_its_embedder(kind: str) -> None:
    assert isinstance(embedder_for(kind), MADE[kind])


def test_both_embedders_have_256_dimensions() -> None:
    assert embedder_for("static").dimensions == embedder_for("hashing").dimensions == 256


def test_a_package_without_models_is_an_embedder_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        raise NotFound(f"no shipped folder {name!r}.", "Reinstall the package.")

    monkeypatch.setattr(shipped, "folder", nowhere)
    with pytest.raises(EmbedderError, match="Reinstall"):
        embedder_for("static")
