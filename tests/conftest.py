"""What several tests share: the built site, its address, a browser."""

import functools
import http.server
import os
import tempfile
import threading

import pytest

from tests.browsing import BROWSER, FLAGS, Quiet
from tests.building import build


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    result = build(out)
    assert result.returncode == 0, result.stdout[-4000:]
    return out / "_build" / "html"


@pytest.fixture(scope="session")
def address(site):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser():
    if BROWSER is None:
        message = "no Chromium on the PATH: the site was not looked at"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        context = play.chromium.launch_persistent_context(profile, executable_path=BROWSER, headless=True, args=FLAGS,
                                                          viewport={"width": 1280, "height": 900})
        yield context
        context.close()
