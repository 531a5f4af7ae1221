"""Make the virtual environment in .venv from the hashed lock, once.

A stamp, written last, says which lock and which Python the environment was made from. Without a matching
stamp the folder is removed and made again, so an interrupted run leaves nothing to trip over.
This file runs under any Python 3, to be able to say that it is too old.
"""

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
LOCK = os.path.join(ROOT, "requirements.txt")
STAMP = os.path.join(VENV, "complete")


def main():
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        sys.exit("error: Python 3.11, 3.12 or 3.13 is needed, this is {}.{}; name one with "
                 "`make PYTHON=/path/to/python3.12 ...`".format(*sys.version_info[:2]))
    want = wanted()
    if stamp() == want:
        print("environment: .venv is ready")
        return
    print("environment: making .venv with Python {}.{}".format(*sys.version_info[:2]), flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    if subprocess.call([sys.executable, "-m", "venv", VENV]) != 0:
        sys.exit("error: this Python cannot make a virtual environment (on Debian: apt install python3-venv)")
    install()
    with open(STAMP, "w") as file:
        file.write(want)
    print("environment: done", flush=True)


def wanted():
    with open(LOCK, "rb") as file:
        lock = hashlib.sha256(file.read()).hexdigest()
    return "{} {} {}".format(lock, sys.version.split()[0], VENV)


def stamp():
    try:
        with open(STAMP) as file:
            return file.read()
    except OSError:
        return None


def install():
    """Install the lock with pip, showing how many packages are done and keeping pip's words for a failure."""
    with open(LOCK) as file:
        total = sum("==" in line for line in file)
    command = [os.path.join(VENV, "bin", "python"), "-m", "pip", "install", "--require-hashes",
               "--disable-pip-version-check", "--no-input", "--progress-bar", "off", "-r", LOCK]
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    lines, collected = [], 0
    for line in pip.stdout:
        lines.append(line)
        if line.startswith("Collecting "):
            collected += 1
            if collected % 10 == 0:
                print("environment: fetched {} of at most {} packages".format(collected, total), flush=True)
        elif line.startswith("Installing collected"):
            print("environment: installing {} packages".format(collected), flush=True)
    if pip.wait() == 0:
        return
    log = os.path.join(ROOT, ".venv-failed.log")
    with open(log, "w") as file:
        file.writelines(lines)
    sys.exit("error: packages could not be installed ({}); pip's words are in {}".format(reason(lines), log))


def reason(lines):
    text = "".join(lines)
    signs = ("NewConnectionError", "Failed to establish", "Temporary failure in name", "ProxyError",
             "ConnectTimeout", "Network is unreachable", "Connection refused")
    if any(sign in text for sign in signs):
        return "the package index cannot be reached"
    errors = [line.strip() for line in lines if line.startswith("ERROR:")]
    return errors[0][7:] if errors else "pip failed"


if __name__ == "__main__":
    main()
