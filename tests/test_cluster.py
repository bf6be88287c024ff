"""Extraction and embedding on a Ray cluster of two nodes on this machine: what comes back is what this process would have made,
and a node that is killed in the middle costs time only.
"""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from gawah.app import Application, build_embedder
from gawah.cluster import SILENT
from gawah.config import load_settings
from gawah.errors import ConfigurationError, ExtractionError
from gawah.types import SourceFile

os.environ |= SILENT  # read when Ray is imported
pytest.importorskip("ray")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves its own sockets and logs open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
DOCUMENTS = (
    "welcome.md",
    "organisation/roster.md",
    "network/error-codes.md",
    "instruments/inventory.csv",
    "guides/volunteer-hi.md",
)
SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture(scope="module")
def nodes():
    """A head without processors for tasks, and two nodes with one each."""
    from ray.cluster_utils import Cluster

    running = Cluster(initialize_head=True, head_node_args={**SMALL, "num_cpus": 0, "include_dashboard": False})
    running.two = [running.add_node(**SMALL) for _ in range(2)]
    yield running
    running.shutdown()


@pytest.fixture(scope="module")
def cluster(nodes):
    from gawah.cluster import Cluster

    with Cluster(load_settings(environment={}).settings, nodes.address) as connected:
        yield connected


@pytest.fixture
def corpus(handbook, folder):
    return folder({name: (handbook / name).read_bytes() for name in DOCUMENTS})


def everything(app):
    """The index's fingerprint, and what was made of the files, by chunk id."""
    with app.catalog.snapshot() as snapshot:
        return app.index.view(snapshot).fingerprint(), {
            row.chunk_id: (
                row.text,
                row.embedding.vector.tobytes(),
                row.embedding.tokens.signs.tobytes(),
                row.embedding.tokens.scales.tobytes(),
            )
            for row in snapshot.rows(0)
        }


def test_embeddings_are_those_of_this_process_to_the_bit(cluster):
    texts = [f"Reading {number} of the tide gauge was {number * 7 % 30} cm." for number in range(40)]
    local, remote = build_embedder(load_settings(environment={}).settings), cluster.load_model("all-MiniLM-L6-v2")
    assert remote.stamp == local.stamp
    for ours, theirs in zip(local.embed(texts), remote.embed(texts), strict=True):
        assert ours.vector.tobytes() == theirs.vector.tobytes()
        assert ours.tokens.signs.tobytes() == theirs.tokens.signs.tobytes()
        assert ours.tokens.scales.tobytes() == theirs.tokens.scales.tobytes()


def test_a_file_that_cannot_be_read_fails_with_its_code(cluster):
    source = SourceFile("default", "broken.pdf", "file:///broken.pdf", "application/pdf", 30, "0" * 64)
    with pytest.raises(ExtractionError) as failed:
        cluster.extract(source, b"%PDF-1.7\nand nothing after it")
    assert failed.value.reason_code == "damaged"
    assert "\n" not in str(failed.value)


def test_a_node_with_another_gawah_other_programs_or_another_model_is_refused(cluster):
    from gawah.cluster import embed_texts, extract_file

    recipe = cluster.load_model("all-MiniLM-L6-v2").recipe
    with pytest.raises(ConfigurationError, match=r"a node of the cluster has gawah .*, the driver 0\.0\.0"):
        cluster.run(embed_texts, [(replace(recipe, version="0.0.0"), ["a"])])
    with pytest.raises(ConfigurationError, match="install the same programs"):
        cluster.run(extract_file, [(replace(recipe, senses=("other eyes",)), None, b"")])
    with pytest.raises(ConfigurationError, match="has another all-MiniLM-L6-v2 than the driver"):
        cluster.run(embed_texts, [(replace(recipe, stamp=replace(recipe.stamp, sha256="0" * 64)), ["a"])])


@pytest.mark.parametrize("address", ["nowhere", "ray://host:1", "127.0.0.1:1", "127.0.0.1:99999", ":6379"])
def test_an_address_without_a_cluster_is_one_line(address):
    from gawah.cluster import Cluster

    with pytest.raises(ConfigurationError) as refused:
        Cluster(load_settings(environment={}).settings, address)
    assert address in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_worker_works_off_the_queue_on_the_cluster_and_ends_when_told(nodes, corpus, tmp_path):
    store = tmp_path / "store"
    with Application(load_settings(environment={}, options={"store": store}).settings, create=True) as app:
        app.catalog.enqueue([("default", name, (corpus / name).as_uri()) for name in DOCUMENTS])
    command = [sys.executable, "-m", "gawah", "worker", "--ray", nodes.address, "--store", str(store)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as worker:
        said = [worker.stderr.readline().split() for _ in DOCUMENTS]
        worker.send_signal(signal.SIGTERM)
        rest = [line.split() for line in worker.stderr.read().splitlines()]
    assert worker.returncode == 0
    assert {words[0] for words in said} == {"ready"}
    assert {words[-1] for words in said} == set(DOCUMENTS)
    assert rest in ([], said[-1:])  # a line that a signal interrupts may be written once more


def test_a_node_that_is_killed_in_the_middle_costs_nothing_but_time(nodes, cluster, corpus, tmp_path, capfd):
    """The last test: one node is left."""
    killed = threading.Event()

    def extract(source, data):
        if source.name == DOCUMENTS[2]:
            killed.set()
            threading.Thread(target=nodes.remove_node, args=(nodes.two[1],), kwargs={"allow_graceful": False}).start()
        return cluster.extract(source, data)

    made = {}
    for name, options in {
        "spread": {"load_model": cluster.load_model, "extract": extract},
        "alone": {},
    }.items():
        settings = load_settings(environment={}, options={"store": tmp_path / name}).settings
        with Application(settings, create=True, **options) as app:
            ended = list(app.ingest(app.plan(corpus)))
            assert sorted(record.name for record in ended) == sorted(DOCUMENTS)
            assert {record.state for record in ended} == {"ready"}
            made[name] = everything(app)
    assert killed.is_set()
    assert capfd.readouterr() == ("", "")
    assert made["spread"] == made["alone"]
    cluster.close()
    with pytest.raises(ConfigurationError, match="closed"):
        cluster.load_model("all-MiniLM-L6-v2").embed(["a"])
