from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse.remotes.kubernetes.cluster import Cluster
from support.kube import FakeCluster, fake_cluster


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[FakeCluster]:
    with fake_cluster() as fake:
        monkeypatch.setenv("KUBECONFIG", str(fake.kubeconfig(tmp_path)))
        yield fake


@pytest.fixture
def cluster(fake: FakeCluster) -> Generator[Cluster]:
    cluster = Cluster(None, None)
    yield cluster
    cluster.close()
