import itertools
import time
from collections.abc import Generator

import pytest
from pluriverse.remotes.kubernetes import cluster as cluster_module
from pluriverse.remotes.kubernetes.cluster import Cluster
from pluriverse.remotes.kubernetes.watched import Watched
from support import kube
from support.kube import FakeCluster, Trouble
from support.waiting import DEADLINE_S

SELECTOR = "pluriverse/runtime=gym-core"


@pytest.fixture
def watched(fake: FakeCluster, cluster: Cluster) -> Generator[Watched]:
    fake.put(kube.pod("first", "10.0.0.1"))
    fake.put(kube.pod("other", "10.0.0.2", runtime="internet"))
    watched = Watched(cluster, SELECTOR)
    wait_for_watches(fake, watched, 1)
    yield watched
    watched.close()


def wait_for_watches(fake: FakeCluster, watched: Watched, count: int) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while fake.watches < count:
        assert time.monotonic() < deadline
        watched.wait_for(lambda: None, 0.01)


def names(watched: Watched) -> set[str]:
    return {each["metadata"]["name"] for each in watched.all()}


def wait_until(watched: Watched, expected: set[str]) -> None:
    assert watched.wait_for(lambda: True if names(watched) == expected else None, DEADLINE_S), names(watched)


def test_objects_are_those_with_the_labels_and_follow_each_change(fake: FakeCluster, watched: Watched) -> None:
    assert names(watched) == {"first"}
    fake.put(kube.pod("second", "10.0.0.3"))
    fake.put(kube.pod("third", "10.0.0.4", runtime="internet"))
    wait_until(watched, {"first", "second"})
    fake.merge("second", {"status": {"phase": "Failed"}})
    phase = lambda: (watched.get("second") or {})["status"]["phase"] == "Failed" or None  # noqa: E731
    assert watched.wait_for(phase, DEADLINE_S)
    fake.remove("first")
    wait_until(watched, {"second"})


def test_a_watch_that_breaks_is_taken_up_where_it_was(fake: FakeCluster, watched: Watched) -> None:
    for number in range(3):
        fake.break_watches()
        fake.put(kube.pod(f"after-{number}", "10.0.0.5"))
        wait_until(watched, {"first", *(f"after-{before}" for before in range(number + 1))})
    assert [each.verb for each in fake.asked].count("list") == 1


def test_a_watch_that_comes_too_late_lists_anew(fake: FakeCluster, watched: Watched) -> None:
    fake.troubles.append(Trouble("watch", 503, "etcd is away", times=2))
    fake.break_watches()
    fake.put(kube.pod("second", "10.0.0.3"))
    fake.remove("first")
    fake.compact()
    wait_until(watched, {"second"})
    assert [each.verb for each in fake.asked].count("list") == 2
    fake.put(kube.pod("third", "10.0.0.3"))
    wait_until(watched, {"second", "third"})


def test_a_watch_that_is_told_to_ask_later_does(fake: FakeCluster, watched: Watched) -> None:
    fake.troubles.append(Trouble("watch", 429, "too many requests", times=2, retry_after="1"))
    before = fake.watches
    fake.break_watches()
    fake.put(kube.pod("second", "10.0.0.3"))
    wait_for_watches(fake, watched, before + 3)
    wait_until(watched, {"first", "second"})
    times = [each.at for each in fake.asked if each.verb == "watch"][before:]
    assert all(after - earlier >= 1.0 for earlier, after in itertools.pairwise(times))


def test_a_watch_of_a_server_that_went_silent_is_begun_anew(
    fake: FakeCluster, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "SILENCE_S", 0.3)
    watched = Watched(cluster, SELECTOR)
    wait_for_watches(fake, watched, 3)
    fake.put(kube.pod("second", "10.0.0.3"))
    wait_until(watched, {"second"})
    watched.close()
