"""A server that speaks OpenAI's protocol and solves puzzles, wrongly at known rates and with a server's usual faults.

What it does to a prompt follows from the prompt alone, so that a test knows what must come out.
"""

import hashlib
import json
import math
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cogniload_repro.puzzles.parse import parse_puzzle

#: Log-odds of a right answer: 1, d, log10 N, rho, rho^2.
CURVE = (7.0, -0.35, -2.5, -2.0, 1.6)


def fate(text):
    """What happens to a prompt: how its answer ends, where it thinks, and what fails at the first attempt."""
    puzzle, rng = (
        parse_puzzle(text),
        random.Random(hashlib.sha256(text.encode()).digest()),
    )
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


class Server:
    """The server in a thread; `answered` has the hash of each prompt once for each answer that was sent."""

    def __init__(self, port=0, answered=None, pause=0.02):
        self.answered, self.pause = [] if answered is None else answered, pause
        self.met, self.lock, own = set(), threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                try:
                    request = json.loads(
                        self.rfile.read(int(self.headers["Content-Length"]))
                    )
                    self.reply(*own.answer(request))
                except OSError:
                    pass  # the client has gone

            def reply(self, status, body, key=None):
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                if status == 429:
                    self.send_header("Retry-After", "1")
                self.end_headers()
                self.wfile.write(content)
                if key:
                    own.note(key)

            def log_message(self, *arguments):
                pass

        class Listener(ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 256

        self._http = Listener(("127.0.0.1", port), Handler)
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
        text, key = message["content"], key_of(message["content"])
        own = fate(text)
        time.sleep(self.pause)
        with self.lock:
            first, _ = key not in self.met, self.met.add(key)
        if first and own["trouble"] in ("429", "500"):
            return int(own["trouble"]), {
                "error": {"message": "try later", "type": "server_error", "code": None}
            }
        if first and own["trouble"] == "stall":
            time.sleep(1.5)
        limit, prompt_tokens = (
            request.get("max_tokens") or request["max_completion_tokens"],
            len(text) // 4,
        )
        puzzle, others = (
            own["puzzle"],
            [v for v in own["puzzle"].domains[own["puzzle"].category]],
        )
        others.remove(puzzle.solution)
        value = puzzle.solution if own["end"] == "right" else others[0]
        said = f"{puzzle.poi} is at, wears, eats, watches, listens to, reads, has hair {value}."
        thought, reason, spent = f"Now {puzzle.poi} moves on.", "stop", 800
        if own["end"] in ("cut", "full"):
            said, reason, spent = "", "length", limit
        if own["in_field"]:
            reply = {"role": "assistant", "content": said, "reasoning_content": thought}
        else:
            close = "" if reason == "length" else f"</think>\n\n{said}"
            reply = {"role": "assistant", "content": f"<think>{thought}{close}"}
        return 200, complete(reply, reason, prompt_tokens, spent), key


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
