"""deploy/kubernetes, rendered with helm, and validated object by object."""

from typing import Any

import pytest
from pluriverse.remotes.address import REWARDER_PORT, VNC_PORT
from support.manifests import pod_spec, templated, validate

NAME = "pluriverse-gym-core"
DEPLOYMENT = ("Deployment", NAME)
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"env": "gym-core.Pong-v3", "runtime": "internet"},
        {"nodeSelector__games": "yes", "egress[0]__ports[0]__port": 443},
        {"tolerations[0]__key": "games"},
    ],
)
def test_every_object_of_the_chart_is_valid(values: dict[str, Any]) -> None:
    for manifest in templated(**values).values():
        validate(manifest)


def test_with_tls_probes_ask_by_it_and_the_certificate_is_where_a_remote_looks() -> None:
    manifests = templated(tls__secretName="pluriverse-tls")
    for manifest in manifests.values():
        validate(manifest)
    pod = pod_spec(manifests[DEPLOYMENT])
    (container,) = pod["containers"]
    assert {container[probe]["httpGet"]["scheme"] for probe in PROBES} == {"HTTPS"}
    set_to = {each["name"]: each["value"] for each in container["env"]}
    (mounted,) = (each["mountPath"] for each in container["volumeMounts"] if each["name"] == "tls")
    # The keys of a Secret of type kubernetes.io/tls.
    assert set_to["PLURIVERSE_TLS_CERT"] == f"{mounted}/tls.crt"
    assert set_to["PLURIVERSE_TLS_KEY"] == f"{mounted}/tls.key"
    assert "PLURIVERSE_TOKENS_FILE" in set_to


def test_remotes_run_without_privileges_on_a_read_only_root() -> None:
    pod = pod_spec(templated()[DEPLOYMENT])
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["resources"]["limits"]["memory"]


def test_probes_and_policies_name_the_ports_that_a_remote_listens_on() -> None:
    manifests = templated()
    (container,) = pod_spec(manifests[DEPLOYMENT])["containers"]
    assert {port["name"]: port["containerPort"] for port in container["ports"]} == {
        "rewarder": REWARDER_PORT,
        "vnc": VNC_PORT,
    }
    for probe in PROBES:
        assert container[probe]["httpGet"]["port"] == "rewarder"
    rules = manifests["NetworkPolicy", NAME]["spec"]["ingress"]
    assert [[port["port"] for port in rule["ports"]] for rule in rules] == [[REWARDER_PORT, VNC_PORT]]


def test_a_pod_is_given_longer_to_end_than_its_episode() -> None:
    pod = pod_spec(templated()[DEPLOYMENT])
    (drain_s,) = (int(each["value"]) for each in pod["containers"][0]["env"] if each["name"] == "PLURIVERSE_DRAIN_S")
    assert pod["terminationGracePeriodSeconds"] >= drain_s + 10


def test_only_trainers_reach_remotes_and_remotes_reach_nothing() -> None:
    policy = templated()["NetworkPolicy", NAME]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert [rule["from"] for rule in policy["ingress"]] == [
        [{"podSelector": {"matchLabels": {"pluriverse/role": "trainer"}}}]
    ]
    assert policy["egress"] == []


def test_selectors_find_the_pods() -> None:
    manifests = templated()
    manifest = manifests[DEPLOYMENT]
    labels = manifest["spec"]["template"]["metadata"]["labels"].items()
    selectors = [
        manifests["NetworkPolicy", NAME]["spec"]["podSelector"]["matchLabels"],
        manifest["spec"]["selector"]["matchLabels"],
        manifests["Service", NAME]["spec"]["selector"],
        manifests["PodDisruptionBudget", NAME]["spec"]["selector"]["matchLabels"],
    ]
    for selector in selectors:
        assert selector.items() <= labels
