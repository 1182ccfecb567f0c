"""The chart in deploy/kubernetes as helm renders it, and what validates it."""

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import jsonschema
import kubernetes_validate  # pyright: ignore[reportMissingTypeStubs] - it has none
import yaml

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "deploy/kubernetes"
HELM: Final = Path(sys.prefix, "bin/helm")
SCHEMAS: Final = ROOT / "tests/deploy/data/crds"

# The newest that both the tools and the schemas know.
KUBERNETES: Final = "1.36"

Manifest = dict[str, Any]


def templated(**values: Any) -> dict[tuple[str, str], Manifest]:
    """What ``helm install`` with these values would apply, by kind and name."""
    options = [word for name, value in values.items() for word in ("--set", f"{name.replace('__', '.')}={value}")]
    return _by_name(_rendered(*options))


def validate(manifest: Manifest) -> None:
    """Check an object by its schema, strictly: what the schema doesn't name is a mistake."""
    schema = _custom().get((manifest["apiVersion"], manifest["kind"]))
    if schema is None:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
        return
    jsonschema.Draft202012Validator(_closed(schema)).validate(manifest)  # pyright: ignore[reportUnknownMemberType] - of its own types
    for part in _embedded(manifest):
        kubernetes_validate.validate(part, KUBERNETES, strict=True)


def pod_spec(manifest: Manifest) -> Manifest:
    spec = manifest["spec"]
    return spec["podTemplate" if manifest["kind"] == "SandboxTemplate" else "template"]["spec"]


@functools.cache
def _rendered(*options: str) -> str:
    command = [str(HELM), "template", "anything", str(CHART), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout


def _by_name(text: str) -> dict[tuple[str, str], Manifest]:
    documents = [document for document in yaml.safe_load_all(text) if document]
    found = {(each["kind"], each["metadata"]["name"]): each for each in documents}
    assert len(found) == len(documents), "two objects have one name"
    return found


def _custom() -> dict[tuple[str, str], Manifest]:
    tables = [yaml.safe_load(path.read_text()) for path in sorted(SCHEMAS.glob("*.yaml"))]
    return {(f"{each['group']}/{each['version']}", each["kind"]): each["openAPIV3Schema"] for each in tables}


def _closed(schema: Manifest) -> Manifest:
    """The schema with no room for what it doesn't name, which a cluster would drop without a word."""
    closed = dict(schema)
    if "properties" in schema:
        closed["properties"] = {name: _closed(each) for name, each in schema["properties"].items()}
        closed.setdefault("additionalProperties", schema.get("x-kubernetes-preserve-unknown-fields", False))
    if "items" in schema:
        closed["items"] = _closed(schema["items"])
    return closed


def _embedded(manifest: Manifest) -> list[Manifest]:
    """The parts of a custom resource that Kubernetes itself has a schema for, as objects of it."""
    parts: list[Manifest] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": manifest["metadata"]},
    ]
    if manifest["kind"] == "SandboxTemplate":
        parts.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "any"}, "spec": pod_spec(manifest)})
    if "networkPolicy" in manifest["spec"]:
        spec: Manifest = {"podSelector": {}, **manifest["spec"]["networkPolicy"]}
        parts.append(
            {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "any"}, "spec": spec}
        )
    return parts
