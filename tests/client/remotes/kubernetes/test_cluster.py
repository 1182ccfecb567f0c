"""A namespace of a cluster, against an API server that refuses, is busy, or isn't there."""

from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.remotes.kubernetes import cluster as cluster_module
from pluriverse.remotes.kubernetes.cluster import Cluster, ClusterError
from support import kube
from support.kube import FakeCluster, Trouble, fake_cluster

SELECTOR = "pluriverse/runtime=gym-core"


def test_namespace_is_that_of_the_context_unless_another_is_named(fake: FakeCluster, cluster: Cluster) -> None:
    assert cluster.namespace == kube.NAMESPACE
    other = Cluster("elsewhere", "fake")
    assert other.namespace == "elsewhere"
    other.close()


def test_in_a_pod_its_service_account_is_used(
    fake: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kubernetes.config import incluster_config

    for name, text in (("namespace", "of-the-pod"), ("token", kube.TOKEN), ("ca.crt", "-")):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cluster_module, "NAMESPACE_FILE", tmp_path / "namespace")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    host, port = fake.url.removeprefix("http://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    cluster = Cluster(None, None)
    assert str(cluster) == f"namespace of-the-pod of https://{host}:{port}"
    cluster.close()


@pytest.mark.parametrize("text", [None, "", "{", "apiVersion: v1\nkind: Config\n"])
def test_without_a_configuration_it_says_where_one_was_looked_for(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config"
    if text is not None:
        path.write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(path))
    with pytest.raises(ConfigurationError, match=r"(?s)no cluster for remotes.*KUBECONFIG.*kubectl get pods"):
        Cluster(None, None)


def test_context_that_there_is_not_is_named(fake: FakeCluster) -> None:
    with pytest.raises(ConfigurationError, match="production"):
        Cluster(None, "production")


def test_request_without_the_right_names_the_verb_and_the_role(fake: FakeCluster, cluster: Cluster) -> None:
    fake.rights = []
    with pytest.raises(ClusterError) as refused:
        cluster.list(SELECTOR)
    assert refused.value.status == 403
    assert "you may not list pods in namespace games" in str(refused.value)
    assert "helm install pluriverse deploy/kubernetes --namespace games" in str(refused.value)


def test_token_that_the_cluster_does_not_know_is_told(fake: FakeCluster, tmp_path: Path) -> None:
    path = fake.kubeconfig(tmp_path)
    path.write_text(path.read_text().replace(kube.TOKEN, "stale"))
    cluster = Cluster(None, None)
    with pytest.raises(ClusterError, match="doesn't recognise the client"):
        cluster.list(SELECTOR)
    cluster.close()


def test_answer_to_ask_later_is_obeyed_also_when_something_is_changed(fake: FakeCluster, cluster: Cluster) -> None:
    fake.put(kube.pod("mine", "10.0.0.1"))
    fake.troubles.append(Trouble("patch", 429, "busy", retry_after="1"))
    fake.troubles.append(Trouble("patch", 429, "busy"))
    cluster.patch("mine", {"metadata": {"annotations": {"seen": "yes"}}})
    first, second, third = (each.at for each in fake.asked)
    assert second - first >= 1.0
    assert third > second
    assert fake.objects["mine"]["metadata"]["annotations"] == {"seen": "yes"}


def test_change_beside_another_is_made_again(fake: FakeCluster, cluster: Cluster) -> None:
    fake.put(kube.pod("mine", "10.0.0.1"))
    fake.troubles.append(Trouble("patch", 409, "the object has been modified"))
    cluster.patch("mine", {"metadata": {"annotations": {"seen": "yes"}}})
    assert len(fake.asked) == 2


def test_server_that_stays_busy_is_an_error_and_no_hang(
    fake: FakeCluster, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "BACKOFF_S", 0.01)
    fake.troubles.append(Trouble("list", 429, "too many requests", times=100))
    with pytest.raises(ClusterError, match=r"\(429\): too many requests"):
        cluster.list(SELECTOR)
    assert len(fake.asked) == 1 + cluster_module.ATTEMPTS


def test_server_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "BACKOFF_S", 0.01)
    with fake_cluster() as fake:
        monkeypatch.setenv("KUBECONFIG", str(fake.kubeconfig(tmp_path)))
    cluster = Cluster(None, None)
    with pytest.raises(ClusterError, match=f"can't list pods in namespace games of {fake.url}") as refused:
        cluster.list(SELECTOR)
    assert refused.value.status is None
    cluster.close()
