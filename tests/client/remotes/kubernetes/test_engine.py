"""kubernetes:N against an API server of this machine; the remotes behind it are real, and give their own leases."""

import contextlib
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.remotes import RemoteManager, parse
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.kubernetes import engine, pods
from pluriverse.remotes.manager import no_progress
from support import kube
from support.certificates import signed
from support.kube import FakeCluster
from support.pods import TOKEN, RunningPods, running_pods

PONG = "gym-core.PongDeterministic-v3"
COST = pods.DELETION_COST

pytestmark = pytest.mark.display

Manage = Callable[[str], RemoteManager]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningPods]:
    with running_pods(tmp_path_factory.mktemp("pods")) as running:
        yield running


@pytest.fixture
def manage(running: RunningPods) -> Generator[Manage]:
    """Makes managers, which are closed at the end."""
    with contextlib.ExitStack() as stack:

        def manage(asked: str) -> RemoteManager:
            number, _, options = asked.partition("?")
            manager = parse(f"kubernetes:{number}?{running.options}&{options}".rstrip("&"), PONG)
            stack.callback(manager.close)
            return manager

        yield manage


def put_pods(fake: FakeCluster, hosts: list[str]) -> dict[str, str]:
    """Put running pods into the cluster; returns their names by address."""
    for host in hosts:
        fake.put(kube.pod(f"pod-{host}", host))
    return {host: f"pod-{host}" for host in hosts}


def test_free_pods_are_shared_by_trainers_and_free_again_when_they_are_given_back(
    fake: FakeCluster, running: RunningPods, manage: Manage
) -> None:
    names = put_pods(fake, running.hosts(3))
    fake.put(kube.pod("not-ready", "127.0.0.1", is_ready=False))
    fake.put(kube.pod("leaving", "127.0.0.1", deletionTimestamp="2026-01-01T00:00:00Z"))
    fake.put(kube.pod("of-another-runtime", "127.0.0.1", runtime="internet"))
    one, other = manage("2"), manage("1")
    addresses = [*one.start(no_progress), *other.start(no_progress)]
    assert {address.host for address in addresses} == set(names)
    # The fleet's token opens all of them, each lease's own only one.
    assert len({address.password for address in addresses} - {TOKEN, None}) == 3
    with pytest.raises(RemoteUnavailable) as refused:
        manage("1?wait=1").start(no_progress)
    assert "of 5 that are there 3 are ready, and of these 0 are ours and 3 another client's" in str(refused.value)
    one.close()
    again = manage("2?wait=10").start(no_progress)
    assert {address.host for address in again} == {address.host for address in addresses[:2]}


def test_pod_that_is_evicted_is_replaced_by_a_free_one_while_the_others_go_on(
    fake: FakeCluster, running: RunningPods, manage: Manage
) -> None:
    names = put_pods(fake, running.hosts(2))
    manager = manage("2")
    before = manager.start(no_progress)
    names |= put_pods(fake, [running.hosts(3)[2]])
    fake.remove(names[before[0].host])
    running.end(before[0].host)
    after = manager.replace(0)
    assert after.host not in {address.host for address in before}
    assert manager.replace(1) == before[1]

    def cost(host: str) -> str | None:
        return fake.objects[names[host]]["metadata"].get("annotations", {}).get(COST)

    assert cost(after.host) == cost(before[1].host) == pods.PLAYS
    manager.close()
    assert cost(after.host) == cost(before[1].host) == pods.IDLE


def test_token_that_remotes_do_not_know_is_told_with_what_to_look_at(
    fake: FakeCluster, running: RunningPods, manage: Manage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "TRIES", 1)
    put_pods(fake, running.hosts(1))
    (tmp_path / "wrong").write_text("wrong")
    manager = parse(f"kubernetes:1?port={running.port}&token={tmp_path / 'wrong'}", PONG)
    with pytest.raises(RemoteUnavailable, match=r"(?s)granted no lease.*pluriverse/role: trainer"):
        manager.start(no_progress)


def test_pods_with_tls_are_known_by_their_certificate(
    fake: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "TRIES", 1)
    certificate, key = signed(tmp_path, "no pod's name")
    others, _ = signed(Path(tempfile.mkdtemp(dir=tmp_path)), "no pod's name")
    # As where an authority has signed it.
    chain = tmp_path / "tls.crt"
    chain.write_text(certificate.read_text() + others.read_text())
    with running_pods(tmp_path, (chain, key)) as running:
        put_pods(fake, running.hosts(1))
        asked = f"kubernetes:1?{running.options}&tls="
        with contextlib.closing(parse(f"{asked}{chain}", PONG)) as manager:
            (address,) = manager.start(no_progress)
            assert why_not_ready(address) is None
            assert address.url.startswith("pluriverses://")
        another = parse(f"{asked}{others}", PONG)
        with pytest.raises(RemoteUnavailable, match="fingerprint"):
            another.start(no_progress)


def test_without_a_token_it_says_where_to_get_it(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLURIVERSE_PASSWORD", raising=False)
    with pytest.raises(ConfigurationError, match=r"no token of the fleet in \$PLURIVERSE_PASSWORD.*pluriverse-fleet"):
        parse("kubernetes:1", PONG)
    with pytest.raises(ConfigurationError, match="can't be read"):
        parse("kubernetes:1?token=/nowhere", PONG)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ("namspace=x", "has no option 'namspace'"),
        ("wait=soon", "the option wait is 'soon', expected a number from 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: str, wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=wrong):
        parse(f"kubernetes:1?{options}", PONG)
