#!/usr/bin/env python3
"""How late checks of many monitors start, and what idle monitors cost.

    bench/monitor.py target/release/gannet [--monitors 1000] [--minutes 6] [--at-once] [--idle 10000] [--database URL]

Starts the server with two processors (taskset), creates monitors of static pages through the API, and prints the lag
between when each check was due and when it started (median, p99, longest), and the processor time of the server. Then,
with a server of its own, the same for idle monitors. Floors: p99 30 s, idle 1 % of one processor.
"""

import argparse
import concurrent.futures
import datetime
import http.client
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

KEY = "gn-bench-0123456789abcdef"
PAGE = "<html><head><title>Page {0}</title></head><body><main><h1>Page {0}</h1>" + (
    "<p>A paragraph of plain text that stays as it is, about item {0}.</p>" * 20) + "</main></body></html>"


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = PAGE.format(self.path).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server:
    """A running server in a folder of its own."""

    def __init__(self, options):
        self.folder = tempfile.TemporaryDirectory()
        settings = {
            "API_KEY": KEY, "RESEARCH_STARTER": "off", "BROWSER": "off", "LOG": "warn",
            "EGRESS_ALLOW": "scrape=127.0.0.0/8", "LISTEN": "127.0.0.1:0", "DATA_DIR": self.folder.name,
        }
        if options.database:
            settings["DATABASE_URL"] = options.database
        environment = {"GANNET_" + name: value for name, value in settings.items()} | {"PATH": os.environ["PATH"]}
        command = [os.path.abspath(options.binary), "serve"]
        if (os.cpu_count() or 1) > 2:
            command = ["taskset", "-c", "0,1", *command]
        self.process = subprocess.Popen(command, env=environment, cwd=self.folder.name, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                break
        else:
            sys.exit("the server did not start")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.local = threading.local()

    def call(self, method, path, body=None):
        for attempt in range(3):
            if not hasattr(self.local, "connection"):
                self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            headers = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}
            try:
                self.local.connection.request(method, path, json.dumps(body) if body else None, headers)
                response = self.local.connection.getresponse()
                text = response.read()
            except (http.client.HTTPException, OSError):
                del self.local.connection
                if attempt == 2:
                    raise
                continue
            if response.status != 200:
                sys.exit(f"{method} {path}: {response.status} {text[:300]}")
            return json.loads(text)

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        self.folder.cleanup()


def create(server, number, schedule, base):
    def one(place):
        targets = [{"type": "scrape", "urls": [f"{base}/{place}"]}]
        body = {"name": f"m{place}", "schedule": schedule, "targets": targets}
        return server.call("POST", "/v2/monitor", body)["data"]["id"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, range(number)))


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def busy(options, base):
    server = Server(options)
    schedule = {"cron": "*/5 * * * *"} if options.at_once else {"text": "every 5 minutes"}
    began = time.time()
    ids = create(server, options.monitors, schedule, base)
    print(f"{len(ids)} monitors created in {time.time() - began:.1f} s", flush=True)
    start, used = time.time(), server.processor_seconds()
    time.sleep(options.minutes * 60)
    share = (server.processor_seconds() - used) / (time.time() - start) * 100
    lags, missing, states = [], 0, {}

    def checks(monitor):
        return server.call("GET", f"/v2/monitor/{monitor}/checks?limit=100")["data"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for found in pool.map(checks, ids):
            missing += not found
            for check in found:
                states[check["status"]] = states.get(check["status"], 0) + 1
                if check["startedAt"]:
                    lags.append(moment(check["startedAt"]) - moment(check["scheduledFor"]))
                elif check["status"] == "queued":
                    lags.append(time.time() - moment(check["scheduledFor"]))
    server.stop()
    lags.sort()
    at = lambda part: lags[min(len(lags) - 1, int(len(lags) * part))] if lags else float("inf")
    print(f"{len(lags)} checks in {options.minutes} minutes: {states}; monitors without a check: {missing}")
    print(f"start lag p50 {at(0.5):.2f} s, p99 {at(0.99):.2f} s (floor 30 s), longest {at(1):.2f} s; processor {share:.1f} % of one")
    return at(0.99) <= 30 and missing == 0


def idle(options, base):
    server = Server(options)
    began = time.time()
    create(server, options.idle, {"cron": "0 0 1 1 *"}, base)
    print(f"{options.idle} idle monitors created in {time.time() - began:.1f} s", flush=True)
    time.sleep(20)
    start, used = time.time(), server.processor_seconds()
    time.sleep(60)
    share = (server.processor_seconds() - used) / (time.time() - start) * 100
    server.stop()
    print(f"idle: processor {share:.2f} % of one (floor 1 %)")
    return share <= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--monitors", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--at-once", action="store_true", help="all are due in the same second; without it their ids spread them")
    parser.add_argument("--idle", type=int, default=10000)
    parser.add_argument("--database", help="an empty PostgreSQL database instead of SQLite; one run each")
    options = parser.parse_args()
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{pages.server_address[1]}"
    good = True
    if options.monitors:
        good &= busy(options, base)
    if options.idle:
        good &= idle(options, base)
    sys.exit(0 if good else 1)


main()
