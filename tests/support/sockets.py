"""Servers on threads that do with their connections what a test says, byte by byte."""

import contextlib
import socket
import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from websockets.http11 import Request
from websockets.server import ServerProtocol

DEADLINE_S: Final = 60.0


@contextlib.contextmanager
def listening(script: Callable[[socket.socket], None]) -> Generator[int]:
    """Run ``script`` for each connection to the port that this yields, each on a thread, and then hang up.

    A script ends by returning, or when its client hangs up; what else it raises is raised at the end of the context.
    """
    failures: list[BaseException] = []
    threads: list[threading.Thread] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connected: socket.socket) -> None:
        with connected:
            try:
                connected.settimeout(DEADLINE_S)
                script(connected)
            except OSError:
                return
            except BaseException as error:  # noqa: BLE001 - it is raised where the test sees it
                failures.append(error)

    def accept() -> None:
        while True:
            try:
                connected, _ = listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=serve, args=(connected,), daemon=True)
            threads.append(thread)
            thread.start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join(DEADLINE_S)
        for thread in threads:
            thread.join(DEADLINE_S)
    if failures:
        raise failures[0]


@contextlib.contextmanager
def answering(answer: Callable[[str, bytes], tuple[int, bytes]], content_type: str) -> Generator[str]:
    """Answer requests at the address that this yields with the status and body for their path and their own body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answer(self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
            with contextlib.suppress(OSError):
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - as the base class names it

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class names it
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(DEADLINE_S)


def shake_hands(connection: socket.socket) -> tuple[Request, bytes]:
    """Take a request for a WebSocket; return it, and the answer that opens it."""
    protocol = ServerProtocol()
    while not (events := protocol.events_received()):
        protocol.receive_data(connection.recv(4096))
    (request,) = events
    assert isinstance(request, Request)
    protocol.send_response(protocol.accept(request))
    return request, b"".join(protocol.data_to_send())
