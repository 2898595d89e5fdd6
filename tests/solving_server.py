"""A server that speaks OpenAI's protocol and solves puzzles.

It is wrong at known rates and has a server's usual faults.

What it does to a prompt follows from the prompt alone, so that a test knows what must
come out.
"""

import hashlib
import json
import math
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cogniload_repro.puzzles.parse import parse_puzzle

VERBS = "is at, wears, eats, watches, listens to, reads, has hair"
#: Log-odds of a right answer: 1, d, log10 N, rho, rho^2.
CURVE = (7.0, -0.35, -2.5, -2.0, 1.6)


def fate(text):
    """What happens to a prompt.

    How its answer ends, where the reasoning stands, and what fails at the first
    attempt.
    """
    puzzle = parse_puzzle(text)
    rng = random.Random(hashlib.sha256(text.encode()).digest())
    terms = (1, puzzle.d, math.log10(puzzle.N), puzzle.rho, puzzle.rho**2)
    right = rng.random() < 1 / (
        1 + math.exp(-sum(map(math.prod, zip(CURVE, terms, strict=True))))
    )
    end = "right" if right else rng.choice(["wrong", "cut", "wrong", "full"])
    trouble = rng.choices(["", "429", "500", "stall"], [85, 6, 6, 3])[0]
    return {
        "puzzle": puzzle,
        "end": end,
        "in_field": rng.random() < 0.5,
        "trouble": trouble,
    }


class Handler(BaseHTTPRequestHandler):
    """Answers one request with what the solver says."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Answer a request; a client that has gone is no trouble."""
        try:
            size = int(self.headers["Content-Length"])
            request = json.loads(self.rfile.read(size))
            self.reply(*self.server.solver.answer(request))
        except OSError:
            pass

    def reply(self, status, body, key=None):
        """Send a body, and remember the key of what was answered."""
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(content)
        if key:
            self.server.solver.note(key)

    def log_message(self, *arguments):
        """Print nothing."""


class Listener(ThreadingHTTPServer):
    """Takes many requests at a time."""

    daemon_threads = True
    request_queue_size = 256
    solver = None


class Server:
    """The server in a thread.

    `answered` has the hash of each prompt once for each answer that was sent.
    """

    def __init__(self, port=0, answered=None, pause=0.02):
        self.answered = [] if answered is None else answered
        self.pause = pause
        self.met = set()
        self.lock = threading.Lock()
        self._http = Listener(("127.0.0.1", port), Handler)
        self._http.solver = self
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def note(self, key):
        """Remember that an answer was sent."""
        with self.lock:
            self.answered.append(key)

    def stop(self):
        """Refuse whatever comes."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, request):
        """Return status, body and the key of what was answered."""
        (message,) = request["messages"]
        text = message["content"]
        key = key_of(message["content"])
        outcome = fate(text)
        time.sleep(self.pause)
        with self.lock:
            first = key not in self.met
            self.met.add(key)
        if first and outcome["trouble"] in ("429", "500"):
            return int(outcome["trouble"]), {
                "error": {"message": "try later", "type": "server_error", "code": None}
            }
        if first and outcome["trouble"] == "stall":
            time.sleep(1.5)
        limit = request.get("max_tokens") or request["max_completion_tokens"]
        return 200, solve(text, outcome, limit), key


def solve(text, outcome, limit):
    """The body of an answer that ends as it is to end."""
    puzzle = outcome["puzzle"]
    others = list(puzzle.domains[puzzle.category])
    others.remove(puzzle.solution)
    value = puzzle.solution if outcome["end"] == "right" else others[0]
    sentence = f"{puzzle.poi} {VERBS} {value}."
    thought = f"Now {puzzle.poi} moves on."
    reason = "stop"
    spent = 800
    close = f"</think>\n\n{sentence}"
    if outcome["end"] in ("cut", "full"):
        sentence = ""
        reason = "length"
        spent = limit
        close = ""
    reply = {"role": "assistant", "content": f"<think>{thought}{close}"}
    if outcome["in_field"]:
        reply |= {"content": sentence, "reasoning_content": thought}
    return complete(reply, reason, len(text) // 4, spent)


def complete(message, reason, prompt_tokens, spent):
    """The body of an answer, as the protocol has it."""
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": spent,
        "total_tokens": prompt_tokens + spent,
    }
    choice = {"index": 0, "message": message, "finish_reason": reason}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "solver",
        "choices": [choice],
    }
    return body | {"usage": usage}


def key_of(text):
    """A short name for a prompt."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
