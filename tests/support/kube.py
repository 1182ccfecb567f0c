"""An API server of Kubernetes for tests: real HTTP, with rights and trouble."""

import contextlib
import json
import re
import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

import yaml
from support.manifests import CHART

Manifest = dict[str, Any]

NAMESPACE: Final = "games"
TOKEN: Final = "token-of-the-cluster"

_PATH: Final = re.compile(r"/api/v1/namespaces/([^/]+)/pods(?:/([^/]+))?")


@dataclass
class Trouble:
    """An answer to give instead, to so many requests of a verb."""

    verb: str
    status: int
    message: str
    times: int = 1
    retry_after: str | None = None


@dataclass(frozen=True)
class Asked:
    verb: str
    at: float


class FakeCluster:
    """The pods of one namespace, and a server for them."""

    def __init__(self) -> None:
        self.objects: dict[str, Manifest] = {}
        self.asked: list[Asked] = []
        self.troubles: list[Trouble] = []
        self.rights: list[Manifest] = trainers_rights()
        self._version = 100
        self._lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def kubeconfig(self, folder: Path) -> Path:
        """Write a configuration that names it."""
        path = folder / "kubeconfig"
        user = {"name": "trainer", "user": {"token": TOKEN}}
        cluster = {"name": "fake", "cluster": {"server": self.url}}
        context = {"name": "fake", "context": {"cluster": "fake", "user": "trainer", "namespace": NAMESPACE}}
        parts = {"clusters": [cluster], "users": [user], "contexts": [context], "current-context": "fake"}
        path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **parts}))
        return path

    def put(self, manifest: Manifest) -> Manifest:
        with self._lock:
            name = manifest["metadata"]["name"]
            self._version += 1
            uid = self.objects.get(name, {}).get("metadata", {}).get("uid", f"uid-{self._version}")
            version: Manifest = {"resourceVersion": str(self._version)}
            changed: Manifest = {**manifest, "metadata": {"uid": uid, **manifest["metadata"], **version}}
            self.objects[name] = changed
        return changed

    def merge(self, name: str, changes: Manifest) -> Manifest:
        """Merge changes into a pod, as RFC 7386 does."""
        with self._lock:
            return self.put(merged(self.objects[name], changes))

    def remove(self, name: str) -> None:
        with self._lock:
            del self.objects[name]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # -- Requests ------------------------------------------------------------------------------------------------------

    def answer(
        self, method: str, path: str, token: str | None, body: Manifest
    ) -> tuple[int, Manifest, Mapping[str, str]]:
        verb, name, query = parse(method, path)
        self.asked.append(Asked(verb, time.monotonic()))
        with self._lock:
            refusal = self._refusal(verb, token)
            if refusal is not None:
                return refusal
            if verb == "list":
                items = [each for each in self.objects.values() if selected(each, query.get("labelSelector", ""))]
                return 200, {"metadata": {"resourceVersion": str(self._version)}, "items": items}, {}
            if name not in self.objects:
                return failure(404, "NotFound", f'pods "{name}" not found')
            return 200, self.merge(name, body), {}

    def _refusal(self, verb: str, token: str | None) -> tuple[int, Manifest, Mapping[str, str]] | None:
        if token != f"Bearer {TOKEN}":
            return failure(401, "Unauthorized", "Unauthorized")
        for trouble in self.troubles:
            if trouble.verb == verb and trouble.times > 0:
                trouble.times -= 1
                status, document, _ = failure(trouble.status, "Trouble", trouble.message)
                return status, document, {} if trouble.retry_after is None else {"Retry-After": trouble.retry_after}
        if not any(verb in each["verbs"] for each in self.rights):
            return failure(403, "Forbidden", f'pods is forbidden: User "trainer" cannot {verb} resource "pods"')
        return None


@contextlib.contextmanager
def fake_cluster() -> Generator[FakeCluster]:
    cluster = FakeCluster()
    try:
        yield cluster
    finally:
        cluster.close()


def pod(name: str, host: str, *, is_ready: bool = True, runtime: str = "gym-core", **metadata: Any) -> Manifest:
    labels = {"app.kubernetes.io/name": "pluriverse", "pluriverse/runtime": runtime}
    conditions = [ready("True" if is_ready else "False")]
    status = {"phase": "Running", "podIP": host, "conditions": conditions}
    return {"metadata": {"name": name, "labels": labels, **metadata}, "spec": {}, "status": status}


def ready(status: str) -> Manifest:
    return {"type": "Ready", "status": status}


def trainers_rights() -> list[Manifest]:
    """The rules of the Role that deploy/kubernetes gives to trainers."""
    template = (CHART / "templates/trainer.yaml").read_text()
    objects = yaml.safe_load_all("".join(line for line in template.splitlines(True) if not line.startswith("{{")))
    return next(each["rules"] for each in objects if each["kind"] == "Role")


def merged(manifest: Manifest, changes: Manifest) -> Manifest:
    result = dict(manifest)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = merged(result.get(name) or {}, cast("Manifest", value))
        else:
            result[name] = value
    return result


def selected(manifest: Manifest, selector: str) -> bool:
    """Whether an object has the labels."""
    wanted = [each.split("=") for each in selector.split(",") if each]
    return all(manifest["metadata"].get("labels", {}).get(name) == value for name, value in wanted)


def failure(code: int, reason: str, message: str) -> tuple[int, Manifest, Mapping[str, str]]:
    return code, {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}, {}


def parse(method: str, path: str) -> tuple[str, str, dict[str, str]]:
    """The verb, the name and the query of a request."""
    parts = urlsplit(path)
    match = _PATH.fullmatch(parts.path)
    assert match is not None, path
    assert match[1] == NAMESPACE, path
    query = dict(parse_qsl(parts.query))
    return "patch" if method == "PATCH" else "list", match[2] or "", query


def _handler(cluster: FakeCluster) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(*cluster.answer("GET", self.path, self.headers.get("Authorization"), {}))

        def do_PATCH(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer(*cluster.answer("PATCH", self.path, self.headers.get("Authorization"), body))

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class names it
            """Say nothing."""

        def _answer(self, status: int, document: Manifest, headers: Mapping[str, str]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler
