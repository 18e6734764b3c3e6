"""A small HTTP server on 127.0.0.1 for tests: each path has an answer, every request is kept; it asserts nothing."""

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What to send for a path; `hold` is called in the middle of the body."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    hold: Callable[[], Any] | None = None


class Server(NamedTuple):
    """A server that runs."""

    host: str
    url: str
    requests: list[tuple[str, dict[str, str]]]


@contextmanager
def serving(answers: Mapping[str, Answer | Callable[[], Answer]]) -> Generator[Server]:
    """Serve `answers` by path until the end; a request is a path with its query, and its headers in lower case."""
    requests: list[tuple[str, dict[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            found = answers.get(self.path.partition("?")[0], Answer(status=404))
            answer = found if isinstance(found, Answer) else found()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(answer.body[: len(answer.body) // 2])
                if answer.hold is not None:
                    self.wfile.flush()
                    answer.hold()
                self.wfile.write(answer.body[len(answer.body) // 2 :])
            except OSError:
                return  # the client had enough

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    host = f"127.0.0.1:{server.server_port}"
    try:
        yield Server(host, f"http://{host}", requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
