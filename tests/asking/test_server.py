"""A local server whose replies are not those of llama.cpp."""

import json
import subprocess
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from cogniload_repro.asking import server

SPEEDS = {"prompt_per_second": 100, "predicted_per_second": 20.5}
GOOD = {
    "/props": {"default_generation_settings": {"n_ctx": 8192}},
    "/apply-template": {"prompt": "Which?"},
    "/tokenize": {"tokens": [1, 2, 3]},
    "/v1/chat/completions": {"timings": SPEEDS},
}
ODD = [None, {}, [], 5, "many", {"n_ctx": None}, {"n_ctx": "many"}]


class Handler(BaseHTTPRequestHandler):
    """Sends the reply that belongs to the path."""

    def reply(self):
        """Read the request and answer it."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        content = json.dumps(self.server.replies[self.path]).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        """Answer a question without a body."""
        self.reply()

    def do_POST(self):
        """Answer a question with a body."""
        self.reply()

    def log_message(self, *arguments):
        """Print nothing."""


@pytest.fixture
def serve(tmp_path):
    """Start a server with these replies by path; it ends with the test."""
    listeners = []
    processes = []

    def start(replies, command=("cat",)):
        listener = HTTPServer(("127.0.0.1", 0), Handler)
        listener.replies = replies
        listeners.append(listener)
        serving = partial(listener.serve_forever, poll_interval=0.01)
        threading.Thread(target=serving, daemon=True).start()
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        processes.append(process)
        log = tmp_path / "server.log"
        log.write_text("loading\nout of memory\n")
        address = f"http://127.0.0.1:{listener.server_address[1]}"
        return server.Server(address, process, log)

    yield start
    for process in processes:
        process.kill()
        process.communicate()
    for listener in listeners:
        listener.shutdown()
        listener.server_close()


def ask(running):
    """All that is asked of a server beside answers."""
    return (
        running.read_context_window(),
        running.count_tokens("Which?"),
        running.measure_speed(),
    )


def test_replies_say_what_the_server_can(serve):
    """Window, length of a prompt, speeds of reading and writing."""
    assert ask(serve(GOOD)) == (8192, 3, (100, 20.5))


SPEEDLESS = [
    {"timings": SPEEDS | {"prompt_per_second": speed}}
    for speed in (None, "fast", 0, -1, 1e-320, float("nan"), float("inf"))
]


@pytest.mark.parametrize(
    ("path", "reply"),
    [(path, reply) for path in GOOD for reply in ODD]
    + [(path, dict.fromkeys(GOOD[path], value)) for path in GOOD for value in (None, 5)]
    + [("/v1/chat/completions", reply) for reply in SPEEDLESS],
)
def test_a_reply_of_another_shape_is_one_sentence(serve, path, reply):
    """It may come from another version of the server."""
    with pytest.raises(ValueError, match=r"^the server.*another version of xllamacpp"):
        ask(serve(GOOD | {path: reply}))


def test_a_server_that_has_ended_says_how(serve):
    """Its exit status and its last words, though the connection broke a moment before."""
    running = serve(GOOD, ("bash", "-c", "sleep 0.2; exit 4"))
    dead = server.Server("http://127.0.0.1:9", running.process, running.log)
    with pytest.raises(ValueError, match=r"exit status 4; .*'out of memory'"):
        dead.read_context_window()
