"""A web server on this machine whose faults are chosen by the test."""

import contextlib
import socketserver
import threading
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
def serve(content):
    """Serve the content under every path; these are kept in ``server.paths``."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.paths.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.paths = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    with running(server):
        yield server


@contextmanager
def serve_raw(*answers):
    """Serve bytes as they are, one answer a connection, the last again and again.

    The first lines of requests are kept in ``server.requests``.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                server.requests.append(self.request.recv(65536).decode("latin-1"))
                self.request.sendall(
                    answers[min(len(server.requests), len(answers)) - 1]
                )
                self.request.close()

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    server.requests = []
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    with running(server):
        yield server
