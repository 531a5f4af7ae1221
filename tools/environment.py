"""Make the virtual environment in .venv from the hashed lock, once.

    python tools/environment.py              keep a complete environment, whatever Python it was made with
    python tools/environment.py --python     keep it only if it was made with the Python that runs this

A stamp, written last, says which lock and which Python the environment was made from. Without a stamp the
folder is removed and made again, so an interrupted run leaves nothing to trip over.
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
OLDEST, NEWEST = (3, 11), (3, 13)


def main():
    chosen = "--python" in sys.argv[1:]
    if chosen:
        refuse_other_versions()
    why = outdated(stamp(), answer(), version() if chosen else None)
    if why is None:
        print("environment: .venv is ready")
        return
    refuse_other_versions()
    leave()
    print("environment: {}making .venv with Python {}".format(why, version()), flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    if subprocess.call([sys.executable, "-m", "venv", VENV]) != 0:
        sys.exit("error: this Python cannot make a virtual environment (on Debian: apt install python3-venv)")
    install()
    with open(STAMP, "w") as file:
        file.write("{} {} {}".format(lock(), version(), VENV))
    print("environment: done", flush=True)


def outdated(stamp, answer, chosen):
    """Return why .venv has to be made, as the beginning of a sentence, or None where it can stay.

    `stamp` is what was written once it was complete, `answer` the version that its Python names today,
    `chosen` the version that was asked for, if one was.
    """
    made_from = (stamp or "").split(" ", 2)
    if len(made_from) < 3:
        return "the old one is not complete, " if os.path.exists(VENV) else ""
    if made_from[0] != lock():
        return "requirements.txt has changed, "
    if made_from[2] != VENV:
        return "the folder has moved, "
    if answer is None or answer.split(".")[:2] != made_from[1].split(".")[:2]:
        return "its Python {} is no longer there, ".format(made_from[1])
    if not supported(answer):
        return "its Python {} is not supported, ".format(answer)
    if chosen and chosen != answer:
        return "it has Python {} and PYTHON names another, ".format(answer)
    return None


def refuse_other_versions():
    if not supported(version()):
        sys.exit("error: Python 3.11, 3.12 or 3.13 is needed, this is {}; name one with "
                 "`make PYTHON=/path/to/python3.12 ...`".format(version()))


def supported(name):
    return OLDEST <= tuple(int(part) for part in name.split(".")[:2]) <= NEWEST


def version():
    return "{}.{}.{}".format(*sys.version_info[:3])


def answer():
    """Return the version that the environment's Python names, or None where it does not answer."""
    code = "import sys; print('{}.{}.{}'.format(*sys.version_info[:3]))"
    try:
        words = subprocess.check_output([os.path.join(VENV, "bin", "python"), "-c", code], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return words.decode().strip()


def leave():
    """Go on with the Python that the environment was made with, where the environment's own one runs this."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    if os.path.realpath(sys.prefix) == os.path.realpath(VENV) and base != sys.executable:
        sys.stdout.flush()
        os.execv(base, [base] + sys.argv)


def lock():
    """Return the fingerprint of the lock."""
    with open(LOCK, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


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
