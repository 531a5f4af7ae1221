"""Show the built site at an address of this machine.

    python tools/serve.py 8000
"""

from __future__ import annotations

import functools
import http.server
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "_build" / "html"
ANOTHER = "choose another: make serve PORT=..."


def main(port):
    if not (port.isdecimal() and 0 < int(port) < 2**16):
        sys.exit(f"error: {port!r} is not the number of a port; {ANOTHER}")
    answer = functools.partial(http.server.SimpleHTTPRequestHandler, directory=SITE)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), answer)
    except OSError as error:
        sys.exit(f"error: port {port} cannot be used ({error.strerror}); {ANOTHER}")
    print(f"serve: http://127.0.0.1:{port}/ (stop with Ctrl-C)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main(sys.argv[1])
