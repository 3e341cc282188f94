"""changedetection.io on the corpus of this folder: how many of its alerts are right, and how many changes it misses.

    GANNET_TEST_WRITE=FOLDER cargo test -p gannet-monitor --test noise corpora_are_written
    pip install changedetection.io markdown
    python changedetection.py FOLDER/corpus.jsonl FOLDER/held-out.jsonl

Starts its server with default settings, serves each page as HTML on loopback, asks it to check every page once for each
version, and takes a new entry in the history of a watch for an alert. Counted as in `measure.rs`.
"""

import collections
import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import markdown

PAGES = {}


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGES[self.path].encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Program:
    """A running changedetection.io."""

    def __init__(self, folder):
        self.base = f"http://127.0.0.1:{free_port()}"
        port = self.base.rsplit(":", 1)[1]
        program = pathlib.Path(sys.executable).with_name("changedetection.io")
        settings = {"ALLOW_IANA_RESTRICTED_ADDRESSES": "true", "FETCH_WORKERS": "4", "DISABLE_VERSION_CHECK": "true"}
        self.log = open(folder / "log.txt", "w")
        self.process = subprocess.Popen(
            [program, "-d", folder, "-C", "-h", "127.0.0.1", "-p", port],
            env=os.environ | settings, stdout=self.log, stderr=self.log,
        )
        store = folder / "changedetection.json"
        end = time.time() + 90
        while time.time() < end:
            time.sleep(1)
            try:
                self.key = json.loads(store.read_text())["settings"]["application"]["api_access_token"]
                self.call("GET", "/api/v1/watch")
                return
            except (OSError, KeyError, ValueError):
                continue
        raise SystemExit("changedetection.io did not start: " + (folder / "log.txt").read_text()[-2000:])

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, method=method)
        request.add_header("x-api-key", self.key)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read() or b"null")

    def states(self, watches):
        """For each watch: when it was checked last, and how many versions it has."""
        found = {}
        for page, uuid in watches.items():
            watch = self.call("GET", f"/api/v1/watch/{uuid}")
            found[page] = (watch.get("last_checked", 0), watch.get("history_n", 0))
        return found


def measure(corpus):
    rows = [json.loads(line) for line in open(corpus)]
    versions = collections.defaultdict(dict)
    for row in rows:
        versions[row["version"]][row["page"]] = row
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    right = wrong = missed = wrong_on_errors = 0
    with tempfile.TemporaryDirectory() as folder:
        program = Program(pathlib.Path(folder))
        try:
            watches, known_truth, before = {}, {}, {}
            for version in sorted(versions):
                for page, row in versions[version].items():
                    html = markdown.markdown(row["text"], extensions=["tables"])
                    PAGES[f"/{page}"] = f"<!doctype html><html><head><title>x</title></head><body>{html}</body></html>"
                if version == 0:
                    for page in versions[0]:
                        url = f"http://127.0.0.1:{site.server_port}/{page}"
                        watches[page] = program.call("POST", "/api/v1/watch", {"url": url})["uuid"]
                        known_truth[page] = versions[0][page]["truth"]
                else:
                    # Times of checks are whole seconds.
                    time.sleep(1.1)
                    program.call("GET", "/api/v1/watch?recheck_all=1")
                end = time.time() + 120
                while True:
                    states = program.states(watches)
                    waiting = [page for page in watches if states[page][0] <= before.get(page, (0, 0))[0]]
                    if not waiting:
                        break
                    if time.time() > end:
                        raise SystemExit(f"{len(waiting)} pages were not checked in version {version}")
                    time.sleep(0.3)
                # The version is written after the time of the check.
                time.sleep(2)
                states = program.states(watches)
                if version > 0:
                    for page, row in versions[version].items():
                        told = states[page][1] > before[page][1]
                        expected = not row["isError"] and row["truth"] != known_truth[page]
                        right += told and expected
                        wrong += told and not expected
                        wrong_on_errors += told and row["isError"]
                        missed += expected and not told
                        if not row["isError"] and told:
                            known_truth[page] = row["truth"]
                before = states
                print(f"version {version}: right {right}, wrong {wrong}, missed {missed}", file=sys.stderr)
        finally:
            program.process.terminate()
            program.process.wait()
    site.shutdown()
    precision, recall = right / max(1, right + wrong), right / max(1, right + missed)
    print(f"{pathlib.Path(corpus).name}: {len(rows)} versions, {right} alerts right, {wrong} wrong "
          f"({wrong_on_errors} of them error pages), {missed} missed; precision {precision:.3f}, recall {recall:.3f}")


for name in sys.argv[1:]:
    measure(name)
