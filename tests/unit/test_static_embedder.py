"""The static table: what it refuses to load, and what the shipped one knows."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import small_table
from beforehand import shipped
from beforehand.backends.embedders import StaticEmbedder, embedder_for
from beforehand.errors import EmbedderError

FILES = ["manifest.json", "table.npy", "weights.npy", "tokenizer.json"]
SHIPPED = shipped.folder("models") / "embedding"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_table.write(tmp_path / "table")


def similarity(*texts: str) -> np.ndarray:
    vectors = embedder_for("static").embed(texts)
    return vectors @ vectors.T


@pytest.mark.parametrize("name", FILES)
def test_a_shipped_file_cut_in_half_is_refused_by_name(tmp_path: Path, name: str) -> None:
    for file in FILES:
        shutil.copy(SHIPPED / file, tmp_path / file)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(EmbedderError, match=name) as refusal:
        StaticEmbedder(tmp_path)
    assert "hashing" in refusal.value.advice


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_refused_by_name(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(EmbedderError, match=f"{name} cannot be read"):
        StaticEmbedder(folder)


@pytest.mark.parametrize("name", FILES)
def test_an_empty_file_is_refused_by_name(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"")
    with pytest.raises(EmbedderError, match=name):
        StaticEmbedder(folder)


@pytest.mark.parametrize("name", FILES[1:])
def test_one_flipped_bit_is_refused_by_name(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[-1] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(EmbedderError, match=f"{name} is damaged"):
        StaticEmbedder(folder)


@pytest.mark.parametrize("name", FILES[1:])
def test_a_file_that_the_manifest_does_not_name_is_refused(folder: Path, name: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_bytes())
    del manifest["files"][name]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(EmbedderError, match=f"does not name {name}"):
        StaticEmbedder(folder)


@pytest.mark.parametrize(
    ("claims", "place"),
    [
        ({"dtype": "float16"}, "dtype"),
        ({"dimensions": 0}, "dimensions"),
        ({"tokens": "many"}, "tokens"),
        ({"files": {"table.npy": {"bytes": 3}}}, "files.table.npy.sha256"),
    ],
)
def test_a_manifest_that_says_something_else_is_refused_with_the_place(
    folder: Path, claims: dict[str, object], place: str
) -> None:
    small_table.stamp(folder, **claims)
    with pytest.raises(EmbedderError, match=f"manifest.json is not the manifest .*{place}"):
        StaticEmbedder(folder)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("table.npy", np.zeros((5, 9), dtype=np.int8)),
        ("table.npy", np.zeros((6, 8), dtype=np.int8)),
        ("table.npy", np.zeros((5, 8), dtype=np.float32)),
        ("weights.npy", np.zeros(4, dtype=np.uint16)),
        ("weights.npy", np.zeros(5, dtype=np.int64)),
    ],
)
def test_an_array_that_does_not_fit_the_manifest_is_refused_by_name(folder: Path, name: str, array: np.ndarray) -> None:
    small_table.put(folder, name, small_table.npy(array))
    small_table.stamp(folder)
    with pytest.raises(EmbedderError, match=f"{name} holds .* expected"):
        StaticEmbedder(folder)


def test_a_table_that_would_run_code_is_refused(folder: Path) -> None:
    small_table.put(folder, "table.npy", small_table.npy(np.array([{"an": "object"}], dtype=object)))
    small_table.stamp(folder)
    with pytest.raises(EmbedderError, match=r"table\.npy is not a \.npy file"):
        StaticEmbedder(folder)


def test_a_tokenizer_of_another_vocabulary_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    larger = small_table.write(tmp_path / "larger", words=[*small_table.WORDS, "cancelled"])
    shutil.copy(larger / "tokenizer.json", folder / "tokenizer.json")
    small_table.stamp(folder)
    with pytest.raises(EmbedderError, match=r"tokenizer\.json has 6 pieces; the table has 5 rows"):
        StaticEmbedder(folder)


def test_a_stamped_file_that_is_no_tokenizer_is_refused_by_name(folder: Path) -> None:
    small_table.put(folder, "tokenizer.json", b'{"version": "1.0"}')
    small_table.stamp(folder)
    with pytest.raises(EmbedderError, match=r"tokenizer\.json is not a tokenizer"):
        StaticEmbedder(folder)


@pytest.mark.parametrize("claims", [{"name": "renamed"}, {"version": "2.5"}])
def test_the_fingerprint_carries_name_and_version(folder: Path, claims: dict[str, str]) -> None:
    before = StaticEmbedder(folder).fingerprint
    after = StaticEmbedder(small_table.stamp(folder, **claims)).fingerprint
    assert before != after
    assert next(iter(claims.values())) in after


def test_a_vector_is_the_weighted_sum_of_the_rows_of_its_words(folder: Path) -> None:
    table, weights = np.load(folder / "table.npy").astype(float), np.load(folder / "weights.npy")
    expected = 2 * weights[1] * table[1] + weights[4] * table[4]
    vector = StaticEmbedder(folder).embed(["order, unheard-of: ORDER paid"])[0]
    assert np.allclose(vector, expected / np.linalg.norm(expected), atol=1e-7)


@pytest.mark.parametrize(
    "text",
    [
        "the order #W6619432, paid twice",
        '{"order_id": "#W1", "items": [{"name": "T-Shirt"}]}',
        "naïve ORDER, ΟΔΟΣ and 東京",
        "re\x0bfund\x00ed or\tder\nparcel",
        "İstanbul don’t order_refund2 \ud800",
    ],
)
def test_words_that_are_one_piece_are_read_as_the_tokenizer_reads_them(text: str) -> None:
    embedder = StaticEmbedder(SHIPPED)
    words = embedder.embed([text])
    embedder._whole = {}
    assert np.array_equal(words, embedder.embed([text]))


def test_a_table_whose_marks_weigh_something_is_read_by_its_tokenizer_alone(tmp_path: Path) -> None:
    loud = small_table.write(tmp_path / "loud", words=[*small_table.WORDS, "!"])
    once, twice = StaticEmbedder(loud).embed(["order!", "order!!"])
    assert not np.array_equal(once, twice)


def test_the_shipped_files_stay_small_enough_for_git() -> None:
    assert max((SHIPPED / name).stat().st_size for name in FILES) < 10_000_000


def test_the_shipped_table_gives_the_vectors_that_its_fingerprint_names() -> None:
    embedder = embedder_for("static")
    assert embedder.fingerprint == "static-minilm-en@1/256/1e494f4ea1ba1e64"
    start = embedder.embed(["refund the order"])[0, :4]
    assert np.allclose(start, [-0.0536175, 0.0244309, 0.0909902, -0.0406216], atol=1e-6)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("refund the customer's order", "return the money for a purchase", "the weather in Paris"),
        ("the user prefers aisle seats", "book a chair near the corridor", "deploy the service to production"),
        ("the build failed with an error", "compilation crashed", "vegetarian restaurant nearby"),
        ("get_order_details", "details of the order", "list_calendar_events"),
    ],
)
def test_the_shipped_table_knows_meaning_beyond_shared_words(text: str, near: str, far: str) -> None:
    scores = similarity(text, near, far)[0]
    assert scores[1] > scores[2] + 0.1


def test_function_words_and_punctuation_hardly_move_a_text() -> None:
    scores = similarity("refund order 4711", "The refund of the order #4711!", "parcel of a customer")[0]
    assert scores[1] > 0.9
    assert scores[2] < 0.6


@pytest.mark.parametrize("text", ["订单已发货", "今天天气很好", "привет мир", "こんにちは", "مرحبا"])
def test_scripts_that_the_teacher_did_not_learn_give_zeros_and_not_noise(text: str) -> None:
    assert not embedder_for("static").embed([text]).any()


def test_the_latin_part_of_a_mixed_text_is_read() -> None:
    mixed, plain = embedder_for("static").embed(["退款 refund order 订单", "refund order"])
    assert np.array_equal(mixed, plain)
