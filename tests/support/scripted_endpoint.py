"""An OpenAI-compatible endpoint whose model says what a script has, for trainers that want one."""

import contextlib
import json
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# What the model says to a conversation: a message, with content or tool_calls.
Script = Callable[[list[dict[str, Any]]], dict[str, Any]]


@dataclass
class Endpoint:
    """Where it listens, and all that it was asked."""

    script: Script
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append(asked)
                message = {"role": "assistant", "content": None, **endpoint.script(asked["messages"])}
                reason = "tool_calls" if message.get("tool_calls") else "stop"
                said = {"index": 0, "message": message, "delta": message, "finish_reason": reason}
                kind = "chat.completion.chunk" if asked.get("stream") else "chat.completion"
                body = {"id": "1", "object": kind, "created": 0, "model": "scripted", "choices": [said]}
                answer, form = json.dumps(body), "application/json"
                if asked.get("stream"):
                    answer, form = f"data: {answer}\n\ndata: [DONE]\n\n", "text/event-stream"
                self.send_response(200)
                self.send_header("Content-Type", form)
                self.send_header("Content-Length", str(len(answer.encode())))
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name
                pass

        return Handler


@contextlib.contextmanager
def scripted(script: Script) -> Generator[Endpoint]:
    endpoint = Endpoint(script)
    with ThreadingHTTPServer(("127.0.0.1", 0), endpoint.handler()) as server:
        endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield endpoint
        finally:
            server.shutdown()
