"""An API server of Kubernetes for tests: real HTTP, with versions, watches, rights and trouble."""

import contextlib
import email.utils
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

import yaml
from support.manifests import CHART

Manifest = dict[str, Any]

NAMESPACE: Final = "games"
TOKEN: Final = "token-of-the-cluster"
CLAIMS: Final = "sandboxclaims"
POOLS: Final = "sandboxwarmpools"
PODS: Final = "pods"

# What it serves: the groups of its kinds.
GROUPS: Final = {CLAIMS: "extensions.agents.x-k8s.io", POOLS: "extensions.agents.x-k8s.io", PODS: ""}
_PATH: Final = re.compile(r"/(?:api/v1|apis/([^/]+)/v1beta1)/namespaces/([^/]+)/([^/]+)(?:/([^/]+))?")
_VERBS: Final = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}


@dataclass
class Trouble:
    """An answer to give instead, to so many requests of a verb and a kind."""

    verb: str
    plural: str
    status: int
    message: str
    times: int = 1
    retry_after: str | None = None


@dataclass(frozen=True)
class Asked:
    verb: str
    plural: str
    name: str | None
    at: float


class FakeCluster:
    """Objects of one namespace, and a server for them. ``on_change``, a controller, is told of each change."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], Manifest] = {}
        self.asked: list[Asked] = []
        self.troubles: list[Trouble] = []
        self.kinds = set(GROUPS)
        self.rights: list[Manifest] = trainers_rights()
        self.ahead_s = 0.0
        self.on_change: Callable[[str, str, Manifest], None] = lambda _what, _plural, _manifest: None
        self._version = 100
        self._oldest = 100
        self._history: deque[tuple[int, str, str, Manifest]] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._round = 0  # watches of an earlier one end
        self._closed = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def watches(self) -> int:
        """How many watches were begun."""
        return sum(each.verb == "watch" for each in self.asked)

    def kubeconfig(self, folder: Path) -> Path:
        """Write a configuration that names it."""
        path = folder / "kubeconfig"
        user = {"name": "trainer", "user": {"token": TOKEN}}
        cluster = {"name": "fake", "cluster": {"server": self.url}}
        context = {"name": "fake", "context": {"cluster": "fake", "user": "trainer", "namespace": NAMESPACE}}
        parts = {"clusters": [cluster], "users": [user], "contexts": [context], "current-context": "fake"}
        path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **parts}))
        return path

    def put(self, plural: str, manifest: Manifest) -> Manifest:
        with self._changed:
            name = manifest["metadata"]["name"]
            self._version += 1
            what = "MODIFIED" if (plural, name) in self.objects else "ADDED"
            uid = self.objects.get((plural, name), {}).get("metadata", {}).get("uid", f"uid-{self._version}")
            version: Manifest = {"resourceVersion": str(self._version)}
            changed: Manifest = {**manifest, "metadata": {"uid": uid, **manifest["metadata"], **version}}
            self.objects[plural, name] = changed
            self._tell(what, plural, changed)
        self.on_change(what, plural, changed)
        return changed

    def merge(self, plural: str, name: str, changes: Manifest) -> Manifest:
        """Merge changes into an object, as RFC 7386 does."""
        with self._changed:
            return self.put(plural, merged(self.objects[plural, name], changes))

    def remove(self, plural: str, name: str) -> None:
        with self._changed:
            gone = self.objects.pop((plural, name))
            self._version += 1
            self._tell("DELETED", plural, merged(gone, {"metadata": {"resourceVersion": str(self._version)}}))
        self.on_change("DELETED", plural, gone)

    def all(self, plural: str) -> list[Manifest]:
        with self._changed:
            return [manifest for (kind, _), manifest in self.objects.items() if kind == plural]

    def compact(self) -> None:
        """Forget what was: whoever watches from an earlier version is told that it is gone."""
        with self._changed:
            self._history.clear()
            self._oldest = self._version

    def break_watches(self) -> None:
        """Hang up on all that watch."""
        with self._changed:
            self._round += 1
            self._changed.notify_all()

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.ahead_s)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    # -- Requests ------------------------------------------------------------------------------------------------------

    def answer(
        self, method: str, path: str, token: str | None, body: Manifest
    ) -> tuple[int, Manifest, Mapping[str, str]]:
        """Answer anything but a watch."""
        verb, plural, name, query = parse(method, path)
        self.asked.append(Asked(verb, plural, name, time.monotonic()))
        with self._changed:
            refusal = self._refusal(verb, plural, token)
            if refusal is not None:
                return refusal
            if name is not None and (plural, name) not in self.objects:
                return failure(404, "NotFound", f'{plural} "{name}" not found')
            match verb:
                case "get":
                    return 200, self.objects[plural, str(name)], {}
                case "list":
                    items = [each for each in self.all(plural) if selected(each, query.get("labelSelector", ""))]
                    return 200, {"metadata": {"resourceVersion": str(self._version)}, "items": items}, {}
                case "create":
                    if (plural, body["metadata"]["name"]) in self.objects:
                        return failure(409, "AlreadyExists", "it exists already")
                    return 201, self.put(plural, body), {}
                case "patch":
                    return 200, self.merge(plural, str(name), body), {}
                case _:
                    self.remove(plural, str(name))
                    return 200, {"status": "Success"}, {}

    def watch(self, path: str, token: str | None) -> Generator[Manifest] | tuple[int, Manifest, Mapping[str, str]]:
        """Refuse a watch, or yield its events."""
        verb, plural, name, query = parse("GET", path)
        self.asked.append(Asked(verb, plural, name, time.monotonic()))
        with self._changed:
            refusal = self._refusal(verb, plural, token)
            return refusal if refusal is not None else self._events(plural, query)

    def _events(self, plural: str, query: dict[str, str]) -> Generator[Manifest]:
        seen, current = int(query["resourceVersion"]), self._round
        deadline = time.monotonic() + int(query["timeoutSeconds"])
        while True:
            with self._changed:
                if self._closed or self._round != current:
                    return
                if seen < self._oldest:
                    _, status, _ = failure(410, "Expired", "too old resource version")
                    yield {"type": "ERROR", "object": status}
                    return
                news = [each for each in self._history if each[0] > seen]
                if not news:
                    left_s = deadline - time.monotonic()
                    if left_s <= 0:
                        return
                    self._changed.wait(left_s)
                    continue
            for version, what, kind, manifest in news:
                seen = version
                if kind == plural and selected(manifest, query["labelSelector"]):
                    yield {"type": what, "object": manifest}
                else:
                    yield {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(version)}}}

    def _tell(self, what: str, plural: str, manifest: Manifest) -> None:
        self._history.append((self._version, what, plural, manifest))
        self._changed.notify_all()

    def _refusal(self, verb: str, plural: str, token: str | None) -> tuple[int, Manifest, Mapping[str, str]] | None:
        if token != f"Bearer {TOKEN}":
            return failure(401, "Unauthorized", "Unauthorized")
        if plural not in self.kinds:
            return failure(404, "NotFound", "the server could not find the requested resource")
        for trouble in self.troubles:
            if (trouble.verb, trouble.plural) == (verb, plural) and trouble.times > 0:
                trouble.times -= 1
                status, document, _ = failure(trouble.status, "Trouble", trouble.message)
                return status, document, {} if trouble.retry_after is None else {"Retry-After": trouble.retry_after}
        if not any(
            verb in each["verbs"] and plural in each["resources"] and GROUPS[plural] in each["apiGroups"]
            for each in self.rights
        ):
            return failure(403, "Forbidden", f'{plural} is forbidden: User "trainer" cannot {verb} resource "{plural}"')
        return None


@contextlib.contextmanager
def fake_cluster() -> Generator[FakeCluster]:
    cluster = FakeCluster()
    try:
        yield cluster
    finally:
        cluster.close()


class SandboxController:
    """Gives each claim one of the addresses, as long as there are some, and ends claims whose time has come."""

    def __init__(self, cluster: FakeCluster, pool: str, hosts: list[str]) -> None:
        self.cluster = cluster
        self.hosts = deque(hosts)
        cluster.put(POOLS, {"metadata": {"name": pool}, "spec": {"replicas": len(hosts)}})
        cluster.merge(POOLS, pool, {"status": {"readyReplicas": len(hosts)}})
        cluster.on_change = self.note

    def note(self, what: str, plural: str, manifest: Manifest) -> None:
        if plural == CLAIMS and what == "ADDED" and self.hosts:
            self.bind(manifest["metadata"]["name"], self.hosts.popleft())

    def bind(self, name: str, host: str) -> None:
        status = {"sandbox": {"name": f"sandbox-{host}", "podIPs": [host]}, "conditions": [ready("True")]}
        self.cluster.merge(CLAIMS, name, {"status": status})

    def fail(self, name: str, reason: str, message: str) -> None:
        """Say of a claim that its sandbox is not ready, and why."""
        self.cluster.merge(CLAIMS, name, {"status": {"conditions": [ready("False", reason, message)]}})


def pod(name: str, host: str, *, is_ready: bool = True, runtime: str = "gym-core", **metadata: Any) -> Manifest:
    labels = {"app.kubernetes.io/name": "pluriverse", "pluriverse/runtime": runtime}
    conditions = [ready("True" if is_ready else "False")]
    status = {"phase": "Running", "podIP": host, "conditions": conditions}
    return {"metadata": {"name": name, "labels": labels, **metadata}, "spec": {}, "status": status}


def ready(status: str, reason: str = "Asked", message: str = "") -> Manifest:
    return {"type": "Ready", "status": status, "reason": reason, "message": message}


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


def parse(method: str, path: str) -> tuple[str, str, str | None, dict[str, str]]:
    """The verb, the kind, the name and the query of a request."""
    parts = urlsplit(path)
    match = _PATH.fullmatch(parts.path)
    assert match is not None, path
    assert match[2] == NAMESPACE, path
    query = dict(parse_qsl(parts.query))
    reading = "get" if match[4] else "watch" if "watch" in query else "list"
    return _VERBS.get(method, reading), match[3], match[4], query


def _handler(cluster: FakeCluster) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            token = self.headers.get("Authorization")
            if "watch=true" not in self.path:
                self._answer(*cluster.answer("GET", self.path, token, {}))
                return
            watched = cluster.watch(self.path, token)
            if isinstance(watched, tuple):
                self._answer(*watched)
                return
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with contextlib.suppress(OSError):
                for event in watched:
                    # In two pieces, as any proxy may cut it.
                    line = json.dumps(event).encode() + b"\n"
                    for piece in (line[:10], line[10:]):
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            self._answer(*cluster.answer(self.command, self.path, self.headers.get("Authorization"), body))

        do_PATCH = do_DELETE = do_POST  # noqa: N815 - as the base class names them

        def date_time_string(self, timestamp: float | None = None) -> str:
            return email.utils.format_datetime(cluster.now(), usegmt=True)

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
