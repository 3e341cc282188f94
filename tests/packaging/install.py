"""Runs packaging/install.sh against a file server that stands in for the page of a release.

    python3 tests/packaging/install.py target/debug/gannet

From an empty home folder to the first scrape with one command, then everything that can go wrong: each time there is one
clear line, and the folder holds what it held before. Needs curl, a POSIX shell and no network.
"""

import functools
import hashlib
import http.server
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "packaging/install.sh"
# From nothing to the first scrape. Of processor time: on a machine that is busy with other work the clock says nothing
# about the installer; on one that is not, the two are about the same.
MAX_CPU_SECONDS = 30
PAGE = b"<html><head><title>Gannets</title></head><body><main><h1>How gannets dive</h1><p>From thirty metres.</p></main></body></html>"


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; /page is a page to scrape, and what is under /stalled never ends."""

    def do_GET(self):
        if self.path == "/page":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)
        elif self.path.startswith("/stalled/") and self.path.endswith(".tar.gz"):
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            self.wfile.write(b"x")
            self.wfile.flush()
            self.server.stalled.set()
            time.sleep(30)
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


class Release:
    """The files of one release in a folder of the file server."""

    def __init__(self, root, name, binary, ocr_program):
        self.folder = root / name
        self.folder.mkdir(parents=True)
        self.archive = self.folder / f"gannet-{os.uname().machine}-unknown-linux-gnu.tar.gz"
        with tarfile.open(self.archive, "w:gz", compresslevel=1) as archive:
            archive.add(binary, "gannet")
            archive.add(ocr_program, "gannet-ocr")
        digest = hashlib.sha256(self.archive.read_bytes()).hexdigest()
        self.checksums = self.folder / "SHA256SUMS"
        self.checksums.write_text(f"{digest}  {self.archive.name}\n")


class Setup:
    def __init__(self, root):
        self.root = root
        self.files = root / "files"
        self.files.mkdir()
        handler = functools.partial(Files, directory=self.files)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.stalled = threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        # A binary that answers `--version` and nothing else: the errors do not depend on what is installed.
        self.small = root / "small"
        self.small.write_text("#!/bin/sh\necho gannet 0.0.0\n")
        self.small.chmod(0o755)
        self.release("good")

    def release(self, name, binary=None):
        return Release(self.files, name, binary or self.small, self.small)

    def home(self, name):
        home = self.root / "homes" / name
        home.mkdir(parents=True)
        return home

    def command(self, name, tools=None, **more):
        """The environment of a fresh user: an empty home, the usual folders of programs, `tools` before them."""
        path = "/usr/local/bin:/usr/bin:/bin"
        if tools:
            folder = self.root / "tools" / name
            folder.mkdir(parents=True)
            for tool, text in tools.items():
                (folder / tool).write_text(f"#!/bin/sh\n{text}\n")
                (folder / tool).chmod(0o755)
            path = f"{folder}:{path}"
        home = self.home(name)
        environment = {"HOME": str(home), "PATH": path, "GANNET_INSTALL_DIR": str(home / ".local/bin"), **more}
        return home / ".local/bin", environment

    def fails(self, name, expected, release="good", tools=None, url=None):
        """The script must fail with the expected words and leave an older binary as it was."""
        folder, environment = self.command(name, tools, GANNET_DOWNLOAD=url or f"{self.url}/{release}")
        folder.mkdir(parents=True)
        (folder / "gannet").write_text("older\n")
        done = subprocess.run(["sh", SCRIPT], env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0, f"{name}: exit code 0\n{done.stdout}{done.stderr}"
        assert expected in done.stderr, f"{name}: {expected!r} is not in:\n{done.stderr}"
        only_the_older_binary(folder)


def only_the_older_binary(folder):
    assert (folder / "gannet").read_text() == "older\n", f"{folder}: the older binary was replaced"
    assert os.listdir(folder) == ["gannet"], os.listdir(folder)


def both_binaries(folder):
    assert sorted(os.listdir(folder)) == ["gannet", "gannet-ocr"], os.listdir(folder)
    assert os.access(folder / "gannet-ocr", os.X_OK), f"{folder}: gannet-ocr cannot be run"


def cpu_seconds_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def strip(program, target):
    """A copy without what debuggers need."""
    if not (shutil.which("strip") and subprocess.run(["strip", "-o", target, program]).returncode == 0):
        shutil.copy(program, target)
    return target


def first_scrape(setup, binary, ocr_program):
    """Nothing is there; one command later a page is printed."""
    stripped = [strip(program, setup.root / f"stripped-{program.name}") for program in (binary, ocr_program)]
    release = Release(setup.files, "real", *stripped)
    folder, environment = setup.command("first", GANNET_DOWNLOAD=f"{setup.url}/real")
    shutil.copy(SCRIPT, setup.files / "install.sh")
    line = (
        f"curl -fsSL {setup.url}/install.sh | sh -s -- scrape {setup.url}/page"
        f" --set egress_allow=scrape=127.0.0.0/8"
    )
    begin, cpu_begin = time.monotonic(), cpu_seconds_of_children()
    done = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, cwd=environment["HOME"])
    seconds, cpu_seconds = time.monotonic() - begin, cpu_seconds_of_children() - cpu_begin
    assert done.returncode == 0, done.stderr
    assert "# How gannets dive" in done.stdout and "From thirty metres." in done.stdout, done.stdout + done.stderr
    both_binaries(folder)
    version = subprocess.run([folder / "gannet-ocr", "--version"], capture_output=True, text=True, check=True).stdout
    assert version.startswith("gannet-ocr "), version
    assert cpu_seconds <= MAX_CPU_SECONDS, f"{cpu_seconds:.1f} s of processor time"
    megabytes = release.archive.stat().st_size / 1e6
    print(
        f"install: from nothing to the first scrape in {seconds:.1f} s, {cpu_seconds:.1f} s of processor time"
        f" (archive of {megabytes:.0f} MB)"
    )


def installs_and_says_what_is_next(setup):
    folder, environment = setup.command("plain", GANNET_DOWNLOAD=f"{setup.url}/good/")
    del environment["GANNET_INSTALL_DIR"]
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    # As root the default is /usr/local/bin, which a test must not touch.
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    if user:
        os.chown(environment["HOME"], 65534, 65534)
    done = subprocess.run(["sh", SCRIPT], env=environment, capture_output=True, text=True, cwd="/", **user)
    assert done.returncode == 0 and (folder / "gannet").exists(), done.stderr
    assert "next: gannet serve" in done.stderr, done.stderr
    # Once more, as an upgrade: the same, over what is there.
    done = subprocess.run(["sh", SCRIPT], env=environment, capture_output=True, text=True, cwd="/", **user)
    assert done.returncode == 0, done.stderr
    both_binaries(folder)


def refuses_what_is_wrong(setup):
    wrong = setup.release("wrong-checksum")
    wrong.checksums.write_text(f"{'0' * 64}  {wrong.archive.name}\n")
    setup.fails("wrong-checksum", "the checksum of", release="wrong-checksum")

    setup.release("no-archive").archive.unlink()
    setup.fails("no-archive", "could not download", release="no-archive")
    setup.release("no-checksums").checksums.unlink()
    setup.fails("no-checksums", "could not download", release="no-checksums")
    setup.release("not-listed").checksums.write_text("")
    setup.fails("not-listed", "does not list", release="not-listed")

    broken = setup.root / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    setup.release("broken", broken)
    setup.fails("broken", "does not run on this machine", release="broken")

    system = 'case $1 in -s) echo {} ;; *) echo {} ;; esac'
    setup.fails("architecture", "no binary for the architecture riscv64", tools={"uname": system.format("Linux", "riscv64")})
    setup.fails("macos", "no binary for Darwin", tools={"uname": system.format("Darwin", "arm64")})
    setup.fails("musl", "uses musl", tools={"ldd": "echo 'musl libc (x86_64)' >&2; exit 1"})
    setup.fails("old-glibc", "glibc 2.17", tools={"getconf": "echo glibc 2.17"})
    setup.fails("plain-http", "use https", url="http://releases.example")

    half = setup.root / "half.sh"
    text = SCRIPT.read_text()
    half.write_text(text[: text.rindex("main ")])
    folder, environment = setup.command("half", GANNET_DOWNLOAD=f"{setup.url}/good")
    done = subprocess.run(["sh", half], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and not folder.exists(), "a script that was cut off must do nothing"


def refuses_folders_it_cannot_write_to(setup):
    folder, environment = setup.command("no-permission", GANNET_DOWNLOAD=f"{setup.url}/good")
    folder.mkdir(parents=True)
    folder.chmod(0o555)
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    done = subprocess.run(["sh", SCRIPT], env=environment, capture_output=True, text=True, cwd="/", **user)
    assert done.returncode != 0 and "no permission to write" in done.stderr, done.stderr
    assert os.listdir(folder) == []
    folder.chmod(0o755)
    environment["GANNET_INSTALL_DIR"] = "/proc/no-such-folder"
    done = subprocess.run(["sh", SCRIPT], env=environment, capture_output=True, text=True)
    assert done.returncode != 0 and "cannot create /proc/no-such-folder" in done.stderr, done.stderr


def leaves_nothing_when_interrupted(setup):
    setup.release("stalled")
    folder, environment = setup.command("stalled", GANNET_DOWNLOAD=f"{setup.url}/stalled")
    folder.mkdir(parents=True)
    (folder / "gannet").write_text("older\n")
    running = subprocess.Popen(["sh", SCRIPT], env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
    assert setup.server.stalled.wait(20), "the download did not start"
    # As a terminal does it: to every process of the pipeline.
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(20) != 0
    only_the_older_binary(folder)


def main():
    binary = Path(sys.argv[1]).resolve(strict=True)
    ocr_program = binary.with_name("gannet-ocr")
    assert ocr_program.exists(), f"{ocr_program} is missing; run `cargo build -p gannet-ocr` first"
    with tempfile.TemporaryDirectory(prefix="gannet-install-") as root:
        # Other accounts enter it, as the test without permissions does.
        os.chmod(root, 0o755)
        setup = Setup(Path(root))
        installs_and_says_what_is_next(setup)
        refuses_what_is_wrong(setup)
        refuses_folders_it_cannot_write_to(setup)
        leaves_nothing_when_interrupted(setup)
        first_scrape(setup, binary, ocr_program)
    print("install: all passed")


main()
