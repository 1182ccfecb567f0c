"""The chart in deploy/kubernetes as helm renders it, and what validates it."""

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import kubernetes_validate  # pyright: ignore[reportMissingTypeStubs] - it has none
import yaml

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "deploy/kubernetes"
HELM: Final = Path(sys.prefix, "bin/helm")

# The newest that the schemas know.
KUBERNETES: Final = "1.36"

Manifest = dict[str, Any]


def templated(**values: Any) -> dict[tuple[str, str], Manifest]:
    """What ``helm install`` with these values would apply, by kind and name."""
    options = [word for name, value in values.items() for word in ("--set", f"{name.replace('__', '.')}={value}")]
    return _by_name(_rendered(*options))


def validate(manifest: Manifest) -> None:
    """Check an object by its schema, strictly: what the schema doesn't name is a mistake."""
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def pod_spec(manifest: Manifest) -> Manifest:
    return manifest["spec"]["template"]["spec"]


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
