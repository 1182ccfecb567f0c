"""The pod of deploy/kubernetes, run as a container of Docker with what its manifest says."""

import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import docker
import pytest
from pluriverse.remotes.address import Address
from pluriverse.remotes.health import why_not_ready
from pluriverse.remotes.lease import claim
from support.manifests import Manifest, pod_spec, templated
from support.remotes import START_DEADLINE_S, published

pytestmark = pytest.mark.container

TOKEN = "0123456789abcdef-of-the-fleet"


def status_of(probe: Manifest, ports: dict[str, int]) -> int | None:
    """What a probe is answered, None if not at all."""
    asked = probe["httpGet"]
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{ports[asked['port']]}{asked['path']}", timeout=2) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return None


def test_remote_starts_is_leased_by_the_fleets_token_and_drains_as_its_manifest_says(tmp_path: Path) -> None:
    pod = pod_spec(templated()["Deployment", "pluriverse-gym-core"])
    (spec,) = pod["containers"]
    secret = tmp_path / "secret"
    secret.mkdir(mode=0o755)
    (secret / "tokens").write_text(f"operator fleet {TOKEN}\n")
    # None is any free port; the SDK's types haven't that.
    ports_of_machine: Any = {f"{each['containerPort']}/tcp": ("127.0.0.1", None) for each in spec["ports"]}
    client = docker.from_env()
    container = client.containers.run(
        spec["image"],
        detach=True,
        user=f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}",
        read_only=spec["securityContext"]["readOnlyRootFilesystem"],
        cap_drop=spec["securityContext"]["capabilities"]["drop"],
        security_opt=["no-new-privileges:true"],
        tmpfs={"/tmp": ""},  # noqa: S108 - in the container
        mem_limit=spec["resources"]["limits"]["memory"].removesuffix("i").lower(),
        environment={each["name"]: each["value"] for each in spec["env"]},
        volumes={str(secret): {"bind": spec["volumeMounts"][1]["mountPath"], "mode": "ro"}},
        ports=ports_of_machine,
    )
    try:
        ports = {each["name"]: published(container, each["containerPort"]) for each in spec["ports"]}
        deadline = time.monotonic() + START_DEADLINE_S
        while status_of(spec["startupProbe"], ports) != 200:
            assert time.monotonic() < deadline, container.logs().decode()
            time.sleep(0.05)
        assert status_of(spec["livenessProbe"], ports) == status_of(spec["readinessProbe"], ports) == 200
        lease = claim(Address("127.0.0.1", ports["vnc"], ports["rewarder"], TOKEN))
        assert why_not_ready(lease.address) is None
        assert lease.address.password != TOKEN
        container.stop(timeout=pod["terminationGracePeriodSeconds"])
        assert container.wait()["StatusCode"] == 0
        assert TOKEN not in container.logs().decode()
    finally:
        container.remove(force=True, v=True)
        client.close()
