"""Drivers of packages, each over a stub with the shapes that its package has.

Stubs search by shared words. What is tested is that a driver calls its package as the version that
its mapping names is called, and reads what it answers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.plugins.archs.external.systems import driver
from tests.plugins.archs.external.toy import Toy

Told = dict[str, Any]
EVENTS = [
    {"id": "e1", "text": "The gate code is 17.", "time": "2026-03-01", "tenant": "t"},
    {"id": "e2", "text": "The ferry leaves at noon.", "time": "2026-03-02", "tenant": "t"},
]


def embed(texts: list[str]) -> list[list[float]]:
    assert all(isinstance(text, str) for text in texts)
    return [[float(len(text)), 1.0] for text in texts]


stored: list[str] = []
"""Where stubs were told to keep what they are told: another place for every history."""
BRIDGE = {"BASE_URL": "http://decisionbench/v1", "DIMENSION": 2, "embed": embed}


class Embeddings:
    """txtai 9.14.0: its embeddings database."""

    def __init__(self, config: Any = None, models: Any = None, **options: Any) -> None:
        assert (options["method"], options["content"]) == ("external", True)
        self.transform: Callable[[list[str]], Any] = options["transform"]
        self.toy = Toy()

    def upsert(self, documents: list[tuple[str, str, None]]) -> None:
        for uid, text, tags in documents:
            assert tags is None
            assert self.transform([text]).shape == (1, 2)
            self.toy.write({"id": uid, "text": text})

    def search(self, query: str, limit: int, *, parameters: Told) -> list[Told]:
        assert query == "select id, text, score from txtai where similar(:query)"
        return [{**one, "score": 0.5} for one in self.toy.search(parameters["query"], limit)]

    def delete(self, ids: list[str]) -> list[str]:
        for uid in ids:
            self.toy.events = [one for one in self.toy.events if one["id"] != uid]
        return ids


def txtai(monkeypatch: pytest.MonkeyPatch) -> Any:
    modules = {"bridge": BRIDGE, "txtai": {"Embeddings": Embeddings}}
    return driver(monkeypatch, "txtai_database.py", modules).Database()


class Dialogues:
    """simplemem 0.1.0: its system, with the retriever whose results its `ask` answers from."""

    def __init__(self, **options: Any) -> None:
        assert options["base_url"] == BRIDGE["BASE_URL"]
        assert not options["use_streaming"]
        stored.append(options["db_path"])
        assert len(set(stored)) == len(stored)
        vectors = sys.modules["simplemem.system"].EmbeddingModel()
        assert vectors.dimension == 2
        self.buffer: list[str] = []
        self.toy, self.vectors, self.hybrid_retriever = Toy(), vectors, self

    def add_dialogue(self, speaker: str, content: str, timestamp: str | None = None) -> None:
        assert speaker == "user"
        self.buffer.append(f"[{timestamp}] {content}")

    def finalize(self) -> None:
        assert self.vectors.encode_documents(self.buffer).shape == (len(self.buffer), 2)
        for text in self.buffer:
            self.toy.write({"id": "", "text": text})
        self.buffer = []

    def retrieve(self, query: str) -> list[Any]:
        assert self.vectors.encode_single(query, is_query=True).shape == (2,)
        found = self.toy.search(query, 25)
        lacking = {"timestamp": None, "location": None, "topic": None}
        return [
            SimpleNamespace(
                lossless_restatement=one["text"], persons=["Ana"], entities=[], **lacking
            )
            for one in found
        ]


def simplemem(monkeypatch: pytest.MonkeyPatch) -> Any:
    system = ModuleType("simplemem.system")
    vars(system).update(SimpleMemSystem=Dialogues)
    monkeypatch.setitem(sys.modules, "simplemem.system", system)
    modules = {"bridge": BRIDGE, "simplemem": {"system": system}}
    return driver(monkeypatch, "simplemem_driver.py", modules).Memories()


class Notes:
    """a-mem 0.2.6: its system; a search tells everything of a note but its text."""

    def __init__(self, **options: Any) -> None:
        assert (options["llm_backend"], options["api_key"]) == ("openai", "none")
        stored.append(options["storage_path"])
        assert len(set(stored)) == len(stored)
        retrievers = sys.modules["agentic_memory.retrievers"]
        self.embed = retrievers.SentenceTransformerEmbeddingFunction(model_name="all-MiniLM-L6-v2")
        self.notes: dict[str, Any] = {}
        self.toy = Toy()

    def add_note(self, content: str, time: str | None = None, **options: Any) -> str:
        assert time in ("202603010000", "202603020000")
        assert len(self.embed([content])) == 1
        uid: str = options["id"]
        self.notes[uid] = SimpleNamespace(
            content=content, timestamp=time, context="General", keywords=["gate"], tags=[]
        )
        self.toy.write({"id": uid, "text": content})
        return uid

    def search_agentic(self, query: str, k: int) -> list[Told]:
        found = self.toy.search(query, k)
        return [{"id": one["id"], "context": "General", "is_neighbor": False} for one in found]

    def read(self, memory_id: str) -> Any:
        return self.notes[memory_id]


def a_mem(monkeypatch: pytest.MonkeyPatch) -> Any:
    retrievers = ModuleType("agentic_memory.retrievers")
    monkeypatch.setitem(sys.modules, "agentic_memory.retrievers", retrievers)
    modules: dict[str, dict[str, Any]] = {
        "bridge": BRIDGE,
        "chromadb": {"EmbeddingFunction": object},
        "agentic_memory": {"retrievers": retrievers},
        "agentic_memory.memory_system": {"AgenticMemorySystem": Notes},
    }
    return driver(monkeypatch, "a_mem_notes.py", modules).Notes()


class HippoRAG:
    """hipporag 2.0.0a3: what a search prepared is not prepared again by a write."""

    def __init__(self, **options: Any) -> None:
        assert "text-embedding" in options["embedding_model_name"]
        assert options["llm_base_url"] == options["embedding_base_url"] == BRIDGE["BASE_URL"]
        stored.append(options["save_dir"])
        assert len(set(stored)) == len(stored)
        self.texts: list[str] = []
        self.prepared: list[str] = []
        self.ready_to_retrieve = False

    def index(self, docs: list[str]) -> None:
        self.texts += docs

    def retrieve(self, queries: list[str], num_to_retrieve: int) -> list[Any]:
        if not self.ready_to_retrieve:
            assert self.texts, "an empty index can't be asked"
            self.prepared, self.ready_to_retrieve = list(self.texts), True
        toy = Toy()
        for text in self.prepared:
            toy.write({"id": text, "text": text})
        (query,) = queries
        docs = [one["text"] for one in toy.search(query, num_to_retrieve)]
        return [SimpleNamespace(question=query, docs=docs, doc_scores=np.ones(len(docs)))]


def hipporag(monkeypatch: pytest.MonkeyPatch) -> Any:
    modules = {"bridge": BRIDGE, "hipporag": {"HippoRAG": HippoRAG}}
    return driver(monkeypatch, "hipporag_driver.py", modules).Documents()


class Cognee:
    """cognee 1.6.5: what is added is found once it is in the graph; no search before."""

    def __init__(self) -> None:
        self.prune = self
        self.added: list[Any] = []
        self.toy: Toy | None = None

    async def add(self, item: Any) -> None:
        assert item.literal_text
        self.added.append(item)

    async def cognify(self) -> None:
        self.toy = self.toy or Toy()
        for item in self.added:
            self.toy.write({"id": str(item.data_id), "text": item.data})
        self.added = []

    async def search(self, query_text: str, **options: Any) -> list[Told]:
        assert self.toy is not None, "no database yet"
        assert (options["query_type"], options["only_context"], options["verbose"]) == (
            "hybrid", True, True,
        )  # fmt: skip
        found = self.toy.search(query_text, options["top_k"])
        chunks = [
            SimpleNamespace(payload={"text": one["text"], "document_id": one["id"]})
            for one in found
        ]
        gate = {"name": "gate", "type": "place", "edges": [{"text": "gate is a place."}]}
        facts = [{"id": "f", "text": "The gate has a code."}]
        objects = {"chunks": chunks, "entities": [gate] * bool(found), "facts": facts * bool(found)}
        return [{"text_result": None, "context_result": "...", "objects_result": objects}]

    async def prune_data(self) -> None:
        self.toy = None

    async def prune_system(self, *, metadata: bool) -> None:
        assert metadata


def cognee(monkeypatch: pytest.MonkeyPatch) -> Any:
    stub = Cognee()
    modules: dict[str, dict[str, Any]] = {
        "bridge": BRIDGE,
        "pandas": {},
        "cognee": {
            **{name: getattr(stub, name) for name in ("add", "cognify", "search", "prune")},
            "SearchType": SimpleNamespace(HYBRID_COMPLETION="hybrid"),
        },
        "cognee.tasks": {},
        "cognee.tasks.ingestion": {},
        "cognee.tasks.ingestion.data_item": {"DataItem": SimpleNamespace},
    }
    monkeypatch.setattr("os.environ", dict(os.environ))
    made = driver(monkeypatch, "cognee_driver.py", modules)
    assert os.environ["EMBEDDING_DIMENSIONS"] == "2"
    assert os.environ["TIKTOKEN_CACHE_DIR"].endswith("/litellm/litellm_core_utils/tokenizers")
    memory = made.Graph()
    loops.append(memory._loop)
    return memory


class Mem0:
    """mem0ai: `Memory`, whose search has another signature in each version."""

    version = ""

    @classmethod
    def from_config(cls, config: Told) -> Mem0:
        store = config["vector_store"]
        assert (store["provider"], store["config"]["embedding_model_dims"]) == ("faiss", 2)
        return cls()

    def __init__(self) -> None:
        self.toy, self.made = Toy(), dict[str, Told]()

    def add(self, messages: list[Told], *, user_id: str, metadata: Told, infer: bool) -> Told:
        assert (user_id, infer) == ("user", True)
        (message,) = messages
        assert message["role"] == "user"
        uid = f"m{len(self.made)}"
        self.made[uid] = metadata
        self.toy.write({"id": uid, "text": message["content"]})
        return {"results": [{"id": uid, "event": "ADD"}, {"id": "old", "event": "NONE"}]}

    def search(self, query: str, **options: Any) -> Told:
        if self.version.startswith("1."):
            assert options.keys() == {"user_id", "limit"}
        else:
            assert options.keys() == {"filters", "top_k"}
            assert options["filters"] == {"user_id": "user"}
        found = self.toy.search(query, options.get("limit") or options["top_k"])
        return {
            "results": [
                {"memory": one["text"], "metadata": self.made[one["id"]], "score": 0.5}
                for one in found
            ]
        }

    def delete(self, memory_id: str) -> None:
        assert memory_id in self.made
        self.toy.events = [one for one in self.toy.events if one["id"] != memory_id]

    def reset(self) -> None:
        self.toy = Toy()


def mem0_of(version: str) -> Callable[[pytest.MonkeyPatch], Any]:
    def made(monkeypatch: pytest.MonkeyPatch) -> Any:
        memory = type("Memory", (Mem0,), {"version": version})
        modules = {"bridge": BRIDGE, "mem0": {"Memory": memory, "__version__": version}}
        return driver(monkeypatch, "mem0_driver.py", modules).Mem0()

    return made


class LightRAG:
    """lightrag-hku 1.5.7: what was inserted, as pieces; an entity and a relation of each."""

    def __init__(self, **options: Any) -> None:
        words = options["tokenizer"].inner
        assert words.decode(words.encode("A gate, 17.")) == "A gate, 17."
        assert options["embedding_func"].embedding_dim == 2
        self.toy, self.options = Toy(), options

    async def initialize_storages(self) -> None:
        """Nothing to open."""

    async def finalize_storages(self) -> None:
        """Nothing to close."""

    async def ainsert(self, text: str, *, ids: str, file_paths: str) -> None:
        assert ids == file_paths
        assert (await self.options["embedding_func"].func([text])).shape == (1, 2)
        assert await self.options["llm_model_func"](text, system_prompt="Name entities.") == text
        self.toy.write({"id": ids, "text": text})

    async def aquery_data(self, query: str, param: Any) -> Told:
        assert not vars(param), "the product's own mode and sizes"
        found = self.toy.search(query, 20)
        if not found:
            return {"status": "failure", "data": {}}
        names = "<SEP>".join(one["id"] for one in found)
        gate = {"entity_name": "gate", "description": "It has a code.", "file_path": names}
        tie = {"src_id": "gate", "tgt_id": "code", "description": "has", "file_path": names}
        known = query == "gate code"  # the graph has it under no other words
        pieces = [{"content": one["text"], "file_path": one["id"]} for one in found]
        return {
            "data": {
                "entities": [gate] * known,
                "relationships": [tie] * known,
                "chunks": pieces,
            }
        }


def lightrag(monkeypatch: pytest.MonkeyPatch) -> Any:
    def chat(turns: list[Told], **form: Any) -> str:
        assert [turn["role"] for turn in turns] == ["system", "user"]
        return str(turns[-1]["content"])

    def tokenizer(name: str, inner: Any) -> Any:
        return SimpleNamespace(name=name, inner=inner)

    modules: dict[str, dict[str, Any]] = {
        "bridge": {**BRIDGE, "chat": chat},
        "lightrag": {"LightRAG": LightRAG, "QueryParam": SimpleNamespace},
        "lightrag.utils": {"EmbeddingFunc": SimpleNamespace, "Tokenizer": tokenizer},
    }
    memory = driver(monkeypatch, "lightrag_driver.py", modules).Graph()
    loops.append(memory.loop)
    return memory


class Graphiti:
    """graphiti-core 0.31.1: a fact of each episode, which names it by an id of its own."""

    def __init__(self, **options: Any) -> None:
        assert options["llm_client"].config.base_url == BRIDGE["BASE_URL"]
        assert options["embedder"].config.embedding_dim == 2
        self.toy, self.store = Toy(), options["graph_driver"]

    async def add_episode(self, **told: Any) -> Any:
        assert told["reference_time"].tzinfo is not None
        assert (told["source"], told["source_description"]) == ("text", "record")
        uid = f"episode {told['name']}"
        self.toy.write({"id": uid, "text": told["episode_body"]})
        return SimpleNamespace(episode=SimpleNamespace(uuid=uid))

    async def search(self, query: str, *, num_results: int) -> list[Any]:
        found = self.toy.search(query, num_results)
        return [
            SimpleNamespace(fact=one["text"], episodes=[one["id"], "another's"]) for one in found
        ]


class Kuzu:
    """Its driver, which keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def execute_query(self, query: str) -> None:
        self.asked.append(query)


def graphiti(monkeypatch: pytest.MonkeyPatch) -> Any:
    kinds = SimpleNamespace(message="message", text="text")
    modules: dict[str, dict[str, Any]] = {
        "bridge": BRIDGE,
        "graphiti_core": {"Graphiti": Graphiti},
        "graphiti_core.cross_encoder": {},
        "graphiti_core.cross_encoder.client": {"CrossEncoderClient": object},
        "graphiti_core.driver": {},
        "graphiti_core.driver.driver": {"GraphProvider": SimpleNamespace(KUZU="kuzu")},
        "graphiti_core.driver.kuzu_driver": {"KuzuDriver": Kuzu},
        "graphiti_core.embedder": {},
        "graphiti_core.embedder.openai": {
            "OpenAIEmbedder": SimpleNamespace,
            "OpenAIEmbedderConfig": SimpleNamespace,
        },
        "graphiti_core.graph_queries": {"get_fulltext_indices": lambda provider: ["index"]},
        "graphiti_core.llm_client": {},
        "graphiti_core.llm_client.config": {"LLMConfig": SimpleNamespace},
        "graphiti_core.llm_client.openai_generic_client": {"OpenAIGenericClient": SimpleNamespace},
        "graphiti_core.nodes": {"EpisodeType": kinds},
    }
    memory = driver(monkeypatch, "graphiti_driver.py", modules).Facts()
    assert memory.graph.store.asked == ["index"], "the product makes none of itself"
    loops.append(memory.loop)
    return memory


loops: list[Any] = []
DRIVERS = {
    "a_mem": a_mem,
    "cognee": cognee,
    "graphiti": graphiti,
    "hipporag": hipporag,
    "lightrag": lightrag,
    "mem0": mem0_of("2.2.1"),
    "mem0_1": mem0_of("1.0.11"),
    "simplemem": simplemem,
    "txtai": txtai,
}


@pytest.fixture(autouse=True)
def nothing_of_another_test() -> Iterator[None]:
    stored.clear()
    yield
    while loops:
        loops.pop().close()


@pytest.fixture(params=sorted(DRIVERS))
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    return DRIVERS[request.param](monkeypatch)


def test_what_was_written_is_found_with_its_event(memory: Any) -> None:
    assert memory.retrieve("gate code", 5) == []
    for event in EVENTS:
        memory.write(event)
    first = memory.retrieve("what is the gate code", 5)[0]
    assert "The gate code is 17." in first["text"]
    assert first.get("id") in ("e1", ["e1"], None)
    assert len(memory.retrieve("the", 1)) == 1


def test_what_is_written_after_a_search_is_found(memory: Any) -> None:
    memory.write(EVENTS[0])
    memory.retrieve("gate code", 5)
    memory.write(EVENTS[1])
    first = memory.retrieve("when does the ferry leave", 5)[0]
    assert "The ferry leaves at noon." in first["text"]


def test_a_reset_leaves_nothing_and_writing_goes_on(memory: Any) -> None:
    memory.write(EVENTS[0])
    memory.retrieve("gate code", 5)
    memory.reset()
    assert memory.retrieve("gate code", 5) == []
    memory.write(EVENTS[1])
    found = memory.retrieve("when does the ferry leave", 5)
    assert "The ferry leaves at noon." in found[0]["text"]
    assert not any("The gate code is 17." in one["text"] for one in found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a_mem",
            "talk start time:202603010000\tmemory content: The gate code is 17.\tmemory context: "
            "General\tmemory keywords: ['gate']\tmemory tags: []",
        ),
        ("cognee", "The gate code is 17."),
        ("graphiti", "The gate code is 17."),
        ("hipporag", "The gate code is 17."),
        ("lightrag", "gate: It has a code."),
        ("mem0", "The gate code is 17."),
        ("mem0_1", "The gate code is 17."),
        ("simplemem", "Content: [2026-03-01] The gate code is 17.\nPersons: Ana"),
        ("txtai", "The gate code is 17."),
    ],
)
def test_a_result_is_what_the_product_puts_before_its_model(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = DRIVERS[name](monkeypatch)
    memory.write(EVENTS[0])
    found = memory.retrieve("gate code", 5)[0]
    assert found["text"] == text
    assert found.get("id") in _IDS.get(name, ["e1"])


_IDS: dict[str, list[Any]] = {
    "simplemem": [None],
    **{name: [["e1"]] for name in ("graphiti", "hipporag", "lightrag")},
}


def test_mem0_forgets_what_it_made_of_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = DRIVERS["mem0"](monkeypatch)
    for event in EVENTS:
        memory.write(event)
    memory.forget(EVENTS[0])
    assert not memory.retrieve("gate code", 5)
    assert memory.retrieve("when does the ferry leave", 5)


def test_lightrag_gives_entities_relations_and_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = lightrag(monkeypatch)
    memory.write(EVENTS[0])
    assert memory.retrieve("gate code", 5) == [
        {"text": "gate: It has a code.", "id": ["e1"]},
        {"text": "gate, code: has", "id": ["e1"]},
        {"text": "The gate code is 17.", "id": ["e1"]},
    ]


def test_cognee_gives_entities_and_facts_after_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = cognee(monkeypatch)
    memory.write(EVENTS[0])
    assert memory.retrieve("gate code", 5) == [
        {"text": "The gate code is 17.", "id": "e1"},
        {"text": "gate (place)\n- gate is a place."},
        {"text": "The gate has a code."},
    ]


def test_events_of_one_text_are_one_document_of_hipporag(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = hipporag(monkeypatch)
    memory.write(EVENTS[0])
    memory.write({**EVENTS[0], "id": "e7"})
    assert memory.retrieve("gate code", 5)[0]["id"] == ["e1", "e7"]


@pytest.mark.parametrize(
    ("time", "written"),
    [("2026-03-01T09:05:30Z", "202603010905"), ("2026-03-01", "202603010000"), ("", None)],
)
def test_a_time_is_as_a_mem_writes_it(
    time: str, written: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_mem(monkeypatch)
    assert sys.modules["a_mem_notes"].minute(time) == written


def test_txtai_deletes_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = txtai(monkeypatch)
    for event in EVENTS:
        memory.write(event)
    memory.forget(EVENTS[0])
    assert [one["id"] for one in memory.retrieve("the gate code", 5)] == ["e2"]
