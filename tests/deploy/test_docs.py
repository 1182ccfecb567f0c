"""What docs/fleet.md says of Kubernetes names what there is."""

import re
from typing import Any

import pytest
import yaml
from pluriverse.remotes.kubernetes import KubernetesOptions
from pluriverse.remotes.options import parse_options
from support.manifests import ROOT, pod_spec, templated, validate

TEXT = (ROOT / "docs/fleet.md").read_text()
KUBERNETES = TEXT[TEXT.index("\n## Kubernetes\n") :].split("\n## ")[1]


def test_chart_has_every_value_that_is_set() -> None:
    values: dict[str, Any] = dict(re.findall(r"--set (\w+)=(\S+)", KUBERNETES))
    (template,) = (each for (kind, _), each in templated(**values).items() if kind == "Deployment")
    assert pod_spec(template)["containers"][0]["image"] == values["image"]


def test_every_option_is_told() -> None:
    table = KUBERNETES[KUBERNETES.index("| option |") :].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines())))
    assert named == set(KubernetesOptions.__dataclass_fields__)
    for query in re.findall(r"kubernetes:\d+\?([^\"\s]+)\"", KUBERNETES):
        parse_options("kubernetes", query, KubernetesOptions)


def test_trainer_of_the_example_is_valid_and_let_in() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", KUBERNETES, re.DOTALL)
    trainer = yaml.safe_load(text)
    validate(trainer)
    manifests = templated()
    (rule,) = manifests["NetworkPolicy", "pluriverse-gym-core"]["spec"]["ingress"]
    assert rule["from"][0]["podSelector"]["matchLabels"] == trainer["metadata"]["labels"]
    assert ("ServiceAccount", trainer["spec"]["serviceAccountName"]) in manifests
    assert trainer["spec"]["volumes"][0]["secret"]["secretName"] == "pluriverse-fleet"


@pytest.mark.parametrize("way", ["deployment", "sandbox"])
def test_secret_that_is_made_is_the_one_that_pods_mount(way: str) -> None:
    manifests = templated(way=way)
    (pod,) = (pod_spec(each) for (kind, _), each in manifests.items() if kind in ("Deployment", "SandboxTemplate"))
    (volume,) = (each["secret"] for each in pod["volumes"] if "secret" in each)
    assert f"create secret generic {volume['secretName']} " in KUBERNETES
    assert all(f"--from-literal={item['key']}=" in KUBERNETES for item in volume["items"])
