"""Building the site and making scratch copies, for the tests that need them."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".venv", "_build", ".git", "__pycache__", ".pytest_cache", ".hypothesis")


def run(*arguments, cwd=ROOT):
    """Run a Python module in `cwd` and return the finished process with its output as text."""
    return capture([sys.executable, "-m", *arguments], cwd)


def capture(command, cwd):
    return subprocess.run(list(map(str, command)), cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=900)


def build(out, cwd=ROOT, builder=()):
    """Build the site of the checkout `cwd` into the folder `out` exactly as `make site` does, or for another builder."""
    command = [Path(sys.executable).with_name("jupyter-book"), "build", "chapters", "--config", "_config.yml",
               "--toc", Path(cwd) / "_toc.yml", "--path-output", out, "--all", "-n", "-W", "--keep-going", "-q", *builder]
    return capture(command, cwd)


def scratch(folder):
    """Return a copy of this checkout, without environment and results, to be broken on purpose."""
    return Path(shutil.copytree(ROOT, folder / "copy", ignore=LEFT_OUT))


def replace(path, old, new):
    """Change the text of a file, insisting that there is something to change."""
    text = path.read_text("utf8")
    assert old in text, f"{path} does not contain {old!r}"
    path.write_text(text.replace(old, new), "utf8")
