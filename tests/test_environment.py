"""The environment is made once and kept; only a lock that changed or a Python named by hand replaces it."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys

import pytest

from tests.building import ROOT, capture

BASE = getattr(sys, "_base_executable", sys.executable)
HERE = "{}.{}.{}".format(*sys.version_info[:3])


def module(folder):
    specification = importlib.util.spec_from_file_location("environment", folder / "tools" / "environment.py")
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A clone with a lock that asks for nothing, and the environment that `make env` makes there."""
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "tools", clone / "tools")
    shutil.copy(ROOT / "Makefile", clone)
    (clone / "requirements.txt").write_text("# nothing\n")
    first = make(clone, "env", f"PYTHON={BASE}")
    assert first.returncode == 0 and "environment: done" in first.stdout, first.stdout
    return clone


@pytest.fixture
def clone(made):
    """The clone, with a file in the environment that is lost where it is made anew."""
    (made / ".venv" / "kept").touch()
    return made


def make(clone, *arguments, path=None):
    environment = {"PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"], "HOME": str(clone)}
    return subprocess.run(["make", "-s", *arguments], cwd=clone, env=environment, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def kept(clone):
    return (clone / ".venv" / "kept").exists()


def test_a_plain_make_keeps_the_environment_where_python3_is_too_old(clone, tmp_path):
    for name in ("python3", "python3.11", "python3.12", "python3.13"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    result = make(clone, "env", path=tmp_path)
    assert (result.returncode, result.stdout) == (0, "environment: .venv is ready\n") and kept(clone)


@pytest.mark.parametrize("python", [BASE, ".venv/bin/python"])
def test_the_same_python_named_by_hand_keeps_it(clone, python):
    result = make(clone, "env", f"PYTHON={python}")
    assert (result.returncode, result.stdout) == (0, "environment: .venv is ready\n") and kept(clone)


def test_a_changed_lock_makes_it_anew_with_the_same_python(clone):
    with open(clone / "requirements.txt", "a") as lock:
        lock.write("# still nothing\n")
    result = make(clone, "env")
    assert result.returncode == 0 and not kept(clone), result.stdout
    assert f"requirements.txt has changed, making .venv with Python {HERE}" in result.stdout
    assert make(clone, "env").stdout == "environment: .venv is ready\n"


def test_an_interrupted_one_is_made_anew(clone):
    (clone / ".venv" / "complete").unlink()
    result = make(clone, "env")
    assert "the old one is not complete, making" in result.stdout and not kept(clone), result.stdout
    assert make(clone, "env").stdout == "environment: .venv is ready\n"


@pytest.mark.parametrize(("stamped", "answer", "chosen", "why"), [
    ("3.12.1", "3.12.1", None, None),
    ("3.12.1", "3.12.9", None, None),
    ("3.12.1", "3.12.1", "3.12.1", None),
    ("3.12.1", "3.12.1", "3.11.7", "it has Python 3.12.1 and PYTHON names another, "),
    ("3.12.1", "3.13.0", None, "its Python 3.12.1 is no longer there, "),
    ("3.12.1", None, None, "its Python 3.12.1 is no longer there, "),
    ("3.10.1", "3.10.1", None, "its Python 3.10.1 is not supported, "),
])
def test_which_environment_stays(made, stamped, answer, chosen, why):
    environment = module(made)
    stamp = f"{environment.lock()} {stamped} {environment.VENV}"
    assert environment.outdated(stamp, answer, chosen) == why
    assert environment.outdated(f"{stamp}/elsewhere", answer, chosen) == "the folder has moved, "


def test_a_python_that_is_too_old_is_refused(made, monkeypatch):
    environment = module(made)
    monkeypatch.setattr(environment, "version", lambda: "3.9.18")
    monkeypatch.setattr(sys, "argv", ["environment.py", "--python"])
    with pytest.raises(SystemExit, match="3.11, 3.12 or 3.13 is needed, this is 3.9.18; name one with `make PYTHON="):
        environment.main()


@pytest.mark.parametrize("port", ["taken", "many", "70000"])
def test_serve_says_in_one_line_that_a_port_cannot_be_used(port):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1]) if port == "taken" else port
        result = capture([sys.executable, "tools/serve.py", port], ROOT)
    assert result.returncode == 1
    assert result.stdout.startswith("error: ") and port in result.stdout
    assert result.stdout.endswith("make serve PORT=...\n") and result.stdout.count("\n") == 1
