"""The pods of one namespace, as the API server of its cluster shows them: objects are dicts, errors have the fix.

The official client reads the configuration, and makes the connections that it asks for: certificates, tokens that
change, proxies. What is asked is of two paths, so that its models of every kind aren't needed.
"""

from __future__ import annotations

import contextlib
import http
import json
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, Final

import urllib3
from kubernetes import client, config
from kubernetes.config.config_exception import ConfigException
from pluriverse_protocol.strict_json import parse_object
from urllib3.exceptions import HTTPError
from yaml import YAMLError

from pluriverse.errors import ConfigurationError, RemoteUnavailable, printable

Manifest = dict[str, Any]

# A working server answers in milliseconds; a busy one reports it.
CONNECT_S: Final = 5.0
ANSWER_S: Final = 20.0

# On 429 the client retries after the given delay, five times at most; without one the delay doubles each time.
ATTEMPTS: Final = 5
BACKOFF_S: Final = 0.25
LATEST_S: Final = 10

# As many remotes start at once; further connections are opened and closed again.
CONNECTIONS: Final = 64

MAX_MESSAGE_CHARS: Final = 500

# Where a pod learns of its namespace.
NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")

KUBECONFIG: Final = "~/.kube/config"

ROLE: Final = "helm install pluriverse deploy/kubernetes --namespace {namespace}"


class ClusterError(RemoteUnavailable):
    """The API server refused something, with an HTTP ``status``; or None if it can't be reached."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Cluster:
    """One namespace. Calls come from several threads."""

    def __init__(self, namespace: str | None, context: str | None) -> None:
        """Read the configuration: of ``context``, or of the pod that this runs in, or of ~/.kube/config."""
        self._configuration, found = _configuration(context)
        self.namespace = namespace or found
        self._configuration.connection_pool_maxsize = CONNECTIONS
        self._connections = client.ApiClient(self._configuration).rest_client.pool_manager

    def __str__(self) -> str:
        return f"namespace {self.namespace} of {self._configuration.host}"

    def list(self, selector: str) -> list[Manifest]:
        """Return the pods that have these labels."""
        return self._ask("GET", "list", query={"labelSelector": selector}).get("items", [])

    def patch(self, name: str, changes: Manifest) -> None:
        """Merge changes into a pod, and retry if another client changes it at the same time."""
        for attempt in range(ATTEMPTS):
            try:
                self._ask("PATCH", "patch", name, body=changes)
            except ClusterError as error:
                if error.status != http.HTTPStatus.CONFLICT or attempt == ATTEMPTS - 1:
                    raise
            else:
                return

    def close(self) -> None:
        self._connections.clear()

    def _ask(
        self,
        method: str,
        verb: str,
        name: str = "",
        *,
        query: Mapping[str, str] | None = None,
        body: Manifest | None = None,
    ) -> Manifest:
        path = f"/api/v1/namespaces/{self.namespace}/pods" + (f"/{name}" if name else "")
        # Tokens of service accounts change, and asking for them looks for that.
        settings: dict[str, Any] = dict(self._configuration.auth_settings())
        headers: dict[str, str] = {each["key"]: each["value"] for each in settings.values()}
        headers["Accept"] = "application/json"
        if body is not None:
            headers["Content-Type"] = "application/merge-patch+json"
        with self._explained(verb):
            response = self._connections.request(
                method,
                self._configuration.host + path,
                fields=query,
                headers=headers,
                body=None if body is None else json.dumps(body).encode(),
                timeout=urllib3.Timeout(connect=CONNECT_S, read=ANSWER_S),
                retries=urllib3.Retry(
                    ATTEMPTS,
                    allowed_methods=None,
                    status_forcelist=(http.HTTPStatus.TOO_MANY_REQUESTS,),
                    backoff_factor=BACKOFF_S,
                    backoff_max=LATEST_S,
                    backoff_jitter=BACKOFF_S,
                    retry_after_max=LATEST_S,
                    raise_on_status=False,
                ),
            )
            if response.status >= http.HTTPStatus.BAD_REQUEST:
                raise self._refused(verb, name, response.status, _message(response.data))
            return response.json()

    @contextlib.contextmanager
    def _explained(self, verb: str) -> Generator[None]:
        try:
            yield
        except (HTTPError, ValueError) as error:
            raise ClusterError(f"can't {verb} pods in {self}: {error}") from error

    def _refused(self, verb: str, name: str, status: int, message: str) -> ClusterError:
        what = f"the pod {name}" if name else "pods"
        match status:
            case http.HTTPStatus.UNAUTHORIZED:
                said = f"{self._configuration.host} doesn't recognise the client (401); see: kubectl auth whoami"
            case http.HTTPStatus.FORBIDDEN:
                said = (
                    f"you may not {verb} pods in {self}: {message}\nAn administrator grants this to "
                    f"serviceAccountName: pluriverse-trainer with: {ROLE.format(namespace=self.namespace)}"
                )
            case _:
                said = f"can't {verb} {what} in {self} ({status}): {message}"
        return ClusterError(said, status)


def _configuration(context: str | None) -> tuple[client.Configuration, str]:
    """Return how to reach a cluster, and its default namespace."""
    configuration = client.Configuration()
    # Half of its types are missing.
    untyped: Any = config
    in_pod = context is None and NAMESPACE_FILE.exists()
    try:
        if in_pod:
            untyped.load_incluster_config(client_configuration=configuration)
            return configuration, NAMESPACE_FILE.read_text().strip()
        # The client looks at the variable only when it is imported.
        file = os.environ.get("KUBECONFIG") or KUBECONFIG
        contexts, active = untyped.list_kube_config_contexts(file)
        untyped.load_kube_config(file, context=context, client_configuration=configuration)
        chosen = next((each for each in contexts if each["name"] == context), active)
        return configuration, chosen["context"].get("namespace", "default")
    except (ConfigException, YAMLError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        where = (
            "This is a pod; its service account token is used"
            if in_pod
            else "This isn't a pod with a service account token, so the configuration is read from $KUBECONFIG and "
            "~/.kube/config"
        )
        raise ConfigurationError(f"no cluster for remotes: {error}\n{where}; check with: kubectl get pods") from error


def _message(body: bytes) -> str:
    """Return an API server's message about an error."""
    with contextlib.suppress(ValueError, LookupError, TypeError):
        return _printable(parse_object(body)["message"])
    return _printable(body.decode(errors="replace"))


def _printable(text: str) -> str:
    return printable(str(text)[:MAX_MESSAGE_CHARS]).strip()
