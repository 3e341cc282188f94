"""Makes the databases that the upgrade test opens, with the binary of an older version.

    python tests/upgrade/make.py OLD_BINARY OUTPUT_FOLDER

Starts a small site and the server, on SQLite and on PostgreSQL; scrapes, crawls, runs a batch and an agent, checks a
monitor, parses a file, saves a browser profile, makes and revokes keys, lets a webhook fail; stops the server and writes
the database, the key of its secrets and what it answered. `tests/blackbox/upgrade.rs` lets the current version answer the
same questions from the same databases. The folder is named after the newest migration of the old version. It takes a
Chromium, for the profile.
"""

import glob
import http.server
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

KEY = "gn-upgrade-0123456789abcdef"
FAR = 4102444800000  # the year 2100 in milliseconds: what was stored must not lapse before the test reads it
PARAGRAPH = "<p>Northern gannets breed in colonies on cliffs and dive from thirty metres for fish.</p>" * 3
PAGES = {
    "/": f"<h1>Gannets</h1>{PARAGRAPH}<a href='/colony'>The colony</a> <a href='/diving'>Diving</a> <a href='/gone'>Gone</a>",
    "/colony": f"<h1>The colony</h1>{PARAGRAPH}<p>Sixty thousand pairs nest here.</p>",
    "/diving": f"<h1>Diving</h1>{PARAGRAPH}<p>They reach a hundred kilometres an hour.</p>",
    "/company": "<h1>Gannet Feeders Ltd</h1><table><tr><th>Founded</th><td>1987</td></tr>"
    f"<tr><th>Employees</th><td>42</td></tr></table>{PARAGRAPH}",
}


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGES.get(self.path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        title = re.search("<h1>(.*?)</h1>", body).group(1) if body else "Not found"
        html = f"<!doctype html><html lang=en><head><title>{title}</title></head><body><main>{body or title}</main></body></html>"
        self.wfile.write(html.encode())

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, binary, folder, database):
        self.base = f"http://127.0.0.1:{free_port()}"
        settings = {
            "GANNET_API_KEY": KEY,
            "GANNET_EGRESS_ALLOW": "scrape=127.0.0.0/8;webhook=127.0.0.0/8",
            "GANNET_RESEARCH_STARTER": "off",
            "GANNET_ANONYMOUS_REGISTRATION": "free",
            "GANNET_WEBHOOK_RETRIES": "100ms",
        }
        if database:
            settings["GANNET_DATABASE_URL"] = database
            os.makedirs(f"{folder}/data", mode=0o700, exist_ok=True)
            with open(f"{folder}/data/secret-key", "w") as file:
                file.write("5e" * 32)
        command = [binary, "serve", "--listen", self.base.removeprefix("http://"), "--data-dir", f"{folder}/data"]
        self.process = subprocess.Popen(command, env={**os.environ, **settings}, cwd=folder, stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                self.ask("GET", "/ready")
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the server does not start")

    def send(self, method, path, data=None, key=KEY, headers={}):
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        return urllib.request.urlopen(request, timeout=60)

    def ask(self, method, path, body=None, key=KEY):
        headers = {} if body is None else {"Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with self.send(method, path, data, key, headers) as response:
            return json.load(response)

    def parse(self, name, content):
        """Uploads a file and returns the document."""
        part = f'--part\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n{content}\r\n--part--\r\n'
        headers = {"Content-Type": "multipart/form-data; boundary=part"}
        with self.send("POST", "/v2/parse", part.encode(), headers=headers) as response:
            return json.load(response)["data"]

    def sign_in(self):
        """Signs in as a page of the server does and returns the cookie."""
        headers = {"Content-Type": "application/json", "Origin": self.base}
        with self.send("POST", "/admin/sign-in", json.dumps({"key": KEY}).encode(), None, headers) as response:
            return response.headers["Set-Cookie"].split(";")[0]

    def wait(self, path):
        for _ in range(300):
            answer = self.ask("GET", path)
            status = answer.get("status") or answer["data"]["status"]
            if status not in ("scraping", "processing", "pending", "queued", "running"):
                return answer
            time.sleep(0.1)
        raise SystemExit(f"{path} does not end")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def fill(server, site):
    """Does one of each kind of work; answers the questions a later version must answer alike."""
    scrape = {"url": f"{site}/colony", "formats": ["markdown"], "maxAge": 0}
    server.ask("POST", "/v2/scrape", scrape)
    webhook = {"url": f"{site}/hook", "headers": {"X-Secret": "of the crawl"}}
    options = {"formats": ["markdown", "links"], "headers": {"X-Token": "of the site"}}
    crawl = server.ask("POST", "/v2/crawl", {"url": f"{site}/", "limit": 10, "scrapeOptions": options, "webhook": webhook})
    batch = server.ask("POST", "/v2/batch/scrape", {"urls": [f"{site}/company", f"{site}/diving"], "formats": ["html"]})
    schema = {"type": "object", "properties": {"founded": {"type": "integer"}, "employees": {"type": "integer"}}}
    prompt = "When was it founded, and how many employees has it?"
    run = server.ask("POST", "/v2/agent", {"urls": [f"{site}/company"], "prompt": prompt, "schema": schema})
    paths = [
        f"/v2/crawl/{crawl['id']}",
        f"/v2/crawl/{crawl['id']}/errors",
        f"/v2/batch/scrape/{batch['id']}",
        f"/v2/agent/{run['id']}",
        f"/v2/agent/{run['id']}/trace",
    ]
    for path in (paths[0], paths[2], paths[3]):
        server.wait(path)
    paths += monitored(server, site)
    profile = {"url": f"{site}/colony", "profile": {"name": "shop", "saveChanges": True}}
    server.ask("POST", "/v2/scrape", profile)
    parsed = server.parse("report.html", f"<h1>Report</h1>{PARAGRAPH}")
    paths += [f"/v2/scrape/{parsed['metadata']['scrapeId']}", "/v2/team/webhooks/failed", "/v2/profiles"]
    keys = made_keys(server)
    cookie = server.sign_in()
    time.sleep(2)  # what follows the end of the work is written
    answers = [{"path": path, "body": server.ask("GET", path)} for path in paths]
    stored = {"url": f"{site}/colony", "formats": ["markdown"], "minAge": 1}
    pages = [{"request": stored, "markdown": server.ask("POST", "/v2/scrape", stored)["data"]["markdown"]}]
    stored = {"key": KEY, "keys": keys, "cookie": cookie, "answers": answers, "pages": pages}
    return json.dumps(stored, indent=1, ensure_ascii=False).replace(server.base, "SERVER")


def monitored(server, site):
    """Lets a monitor find a page and then a change of it; returns what to ask about it."""
    targets = [{"type": "scrape", "urls": [f"{site}/price"]}]
    asked = {"name": "Feeder", "schedule": {"text": "daily"}, "targets": targets, "goal": "the price drops below 50 EUR"}
    monitor = f"/v2/monitor/{server.ask('POST', '/v2/monitor', asked)['data']['id']}"
    checks = []
    for price in (80, 45):
        PAGES["/price"] = f"<h1>Feeder</h1>{PARAGRAPH}<p>Price: {price} EUR</p>"
        checks.append(f"{monitor}/checks/{server.ask('POST', f'{monitor}/run')['id']}")
        server.wait(checks[-1])
    server.ask("PATCH", monitor, {"status": "paused"})  # or a later version would begin with a check
    return [monitor, f"{monitor}/checks", *checks]


def made_keys(server):
    """Keys, each with a question and the status that answers it."""
    def made(name, **options):
        return server.ask("POST", "/admin/keys", {"name": name, **options})

    reader, admin, revoked = made("reader", scopes=["scrape"]), made("admin", scopes=["admin"]), made("revoked")
    server.ask("DELETE", f"/admin/keys/{revoked['data']['id']}")
    registered = server.ask("POST", "/agent/auth", {"type": "anonymous"}, None)["credential"]
    usage, own = "/v2/team/credit-usage", "/v2/crawl/active"
    return [
        {"key": reader["key"], "path": own, "status": 403},
        {"key": reader["key"], "path": usage, "status": 200},
        {"key": admin["key"], "path": "/admin/keys", "status": 200},
        {"key": revoked["key"], "path": usage, "status": 401},
        {"key": registered, "path": usage, "status": 200},
    ]


def later(connection, tables):
    for table in tables:
        connection(f"UPDATE {table} SET expires_at = {FAR} WHERE expires_at IS NOT NULL")
    connection(f"UPDATE profiles SET used_at = {FAR}")


EXPIRING = ["pages", "scrapes", "crawls", "agent_runs", "searches", "objects", "deliveries", "monitor_checks", "sign_ins"]


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def compressed(data):
    return subprocess.run(["zstd", "-19", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def make_sqlite(binary, site, output):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(binary, folder, None)
        write(output, "sqlite.json", fill(server, site).encode())
        server.stop()
        file = glob.glob(f"{folder}/data/*.db")[0]
        database = sqlite3.connect(file)
        later(database.execute, EXPIRING)
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("VACUUM")
        database.close()
        with open(file, "rb") as content:
            write(output, "sqlite.db.zst", compressed(content.read()))
        shutil.copy(f"{folder}/data/secret-key", f"{output}/sqlite.secret-key")
        print("sqlite:", os.path.basename(file), os.listdir(f"{folder}/data"))


def make_postgres(binary, site, output):
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        shutil.chown(folder, "postgres")
        as_postgres = {"user": "postgres"} if os.getuid() == 0 else {}
        data = f"{folder}/pg"
        subprocess.run([f"{programs}/initdb", "-D", data, "-U", "gannet", "-A", "trust", "-E", "UTF8", "--no-locale"],
                       check=True, stdout=subprocess.DEVNULL, cwd="/", **as_postgres)
        postgres = subprocess.Popen([f"{programs}/postgres", "-D", data, "-p", str(port), "-c", "unix_socket_directories="],
                                    cwd="/", stderr=subprocess.DEVNULL, **as_postgres)
        try:
            at = ["-h", "127.0.0.1", "-p", str(port), "-U", "gannet"]
            while subprocess.run([f"{programs}/pg_isready", "-q", *at]).returncode:
                time.sleep(0.1)
            subprocess.run([f"{programs}/createdb", *at, "old"], check=True)
            with tempfile.TemporaryDirectory() as home:
                server = Server(binary, home, f"postgres://gannet@127.0.0.1:{port}/old")
                write(output, "postgres.json", fill(server, site).encode())
                server.stop()
            later(lambda sql: subprocess.run([f"{programs}/psql", "-q", *at, "-d", "old", "-c", sql], check=True), EXPIRING)
            dump = [f"{programs}/pg_dump", *at, "--inserts", "--no-owner", "--no-privileges", "old"]
            text = subprocess.run(dump, check=True, stdout=subprocess.PIPE).stdout.decode()
            # What older servers do not know, and orders to psql itself.
            text = "".join(line for line in text.splitlines(True) if not re.match(r"\\|SET transaction_timeout", line))
            write(output, "postgres.sql.zst", compressed(text.encode()))
        finally:
            postgres.send_signal(signal.SIGINT)
            postgres.wait(30)


def main():
    binary, output = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(output, exist_ok=True)
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{site.server_port}"
    make_sqlite(binary, address, output)
    make_postgres(binary, address, output)


main()
