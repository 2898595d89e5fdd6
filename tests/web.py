"""A web server on this machine whose faults are chosen by the test."""

import contextlib
import socketserver
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def running(server):
    """Let a server answer in a thread of its own."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serve(content, faults=(), etag='"1"', kind="application/octet-stream"):
    """Serve the content under every path; the first requests meet the faults, one each.

    A fault is a status such as 503, ``truncate`` (half of what is asked for), ``stall`` (no byte for a second),
    ``hang`` (half, and then nothing for ten seconds) or ``whole`` (a range is not honoured). The requests' ranges
    are kept in ``server.ranges``.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.paths.append(self.path)
            server.ranges.append(self.headers.get("Range"))
            fault = server.faults.pop(0) if server.faults else None
            if isinstance(fault, int):
                self.send_error(fault)
                return
            body, etag = server.content, server.etag
            start = 0
            if self.headers.get("Range") and self.headers.get("If-Range") == etag and fault != "whole":
                start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            if start >= len(body) and start:
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.send_header("Content-Length", str(len(body) - start))
            self.send_header("Content-Type", kind)
            if etag:
                self.send_header("ETag", etag)
            self.end_headers()
            if fault == "stall":
                time.sleep(2)
            body = body[start:]
            self.wfile.write(body[: len(body) // 2] if fault in ("truncate", "hang") else body)
            if fault == "hang":
                self.wfile.flush()
                time.sleep(10)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.content, server.faults, server.etag, server.ranges, server.paths = content, list(faults), etag, [], []
    server.url = f"http://127.0.0.1:{server.server_port}"
    with running(server):
        yield server


@contextmanager
def serve_raw(*answers):
    """Serve bytes as they are, one answer a connection, the last again and again.

    An answer is bytes, or an iterator of blocks that are sent until the client goes. The first lines of requests are
    kept in ``server.requests``.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                server.requests.append(self.request.recv(65536).decode("latin-1"))
                answer = answers[min(len(server.requests), len(answers)) - 1]
                for block in [answer] if isinstance(answer, bytes) else answer:
                    self.request.sendall(block)
                self.request.close()

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    server.requests = []
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    with running(server):
        yield server
