"""A Ray cluster of several nodes on this machine, and what runs on it."""

import contextlib
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, TypeAlias

import psutil
import pytest
import ray as ray_package
from pluriverse.remotes.address import Address
from ray import cluster_utils
from support.waiting import until

# Most of their types are unknown to type checkers.
ray: Final[Any] = ray_package
Cluster: TypeAlias = Any

TESTS: Final = Path(__file__).parents[1]
EACH: Final[dict[str, Any]] = {"object_store_memory": 80 * 1024**2, "include_dashboard": False}

# A node's processes take seconds to start, on a busy machine a minute.
CLUSTER_S: Final = 400.0

# Nodes that died are found out within some seconds, not twenty.
SYSTEM: Final = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "health_check_timeout_ms": 5000}


@contextlib.contextmanager
def ray_cluster(nodes: int) -> Generator[Cluster]:
    """A head without room for actors, and ``nodes`` with two cores each; this process is connected to it."""
    # The paths of Ray's sockets have to be short, and it leaves files.
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="pv-", dir="/tmp") as folder:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # Actors import what a test gives them.
        patch.setenv("PYTHONPATH", str(TESTS))
        cluster = _started(nodes, folder)
        try:
            ray.init(address=cluster.address, configure_logging=False, log_to_driver=False)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
            # What is on a node that was killed ends by itself.
            until(lambda: not processes(folder))


def _started(nodes: int, folder: str) -> Cluster:
    while True:
        try:
            cluster: Cluster = cluster_utils.Cluster(
                initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": SYSTEM, **EACH}
            )
            for _ in range(nodes):
                cluster.add_node(num_cpus=2, wait=False, **EACH)
            cluster.wait_for_nodes(CLUSTER_S)
        except Exception as error:
            # Ray raises nothing more special. It gives nodes thirty seconds, which they take where all are busy.
            if "timed out" not in str(error):
                raise
            for process in processes(folder):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        else:
            return cluster


def processes(word: str) -> list[psutil.Process]:
    """This machine's processes that have ``word`` in their command lines."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and word in " ".join(process.cmdline()):
                found.append(process)
    return found


def runs(address: Address) -> bool:
    """Whether the processes of a remote on this machine are there."""
    return bool(processes(f"--rewarder-port {address.rewarder_port}"))


def node_of(actor: Any) -> str:
    """The node's own name, since all nodes here have one address."""
    return ray.get(actor.__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id()))  # pyright: ignore[reportUnknownLambdaType]
