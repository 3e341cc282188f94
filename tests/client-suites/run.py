"""The end-to-end suites that ship with firecrawl-py and firecrawl-js, unmodified, against this server.

They ask for hosts of the web by name. `hosts.py` stands in for those, `model.py` for a language model; both on loopback. Ports 80
and 443 belong to root on most machines, and so does the wish to start the server as somebody else: run it as root.

    run.py GANNET ENVIRONMENT     the folder that `scripts/test-env … suites` made
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import xml.etree.ElementTree as xml
from pathlib import Path

from hosts import ADDRESS, HOSTS, make_authority, paths, serve_names, serve_pages
from model import serve_model

KEY = "gn-suites-0123456789abcdef"
# An account without rights, which every Debian system has: Chromium reads trusted certificates from its home folder.
ACCOUNT = 65534
LIMIT = 1500


def main(gannet: str, environment: str):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        folder.chmod(0o755)
        authority, certificate = make_authority(folder)
        serve_pages(certificate)
        home = trusting_home(folder, authority)
        settings = server_settings(home, authority)
        results = {}
        for name, suite in {"firecrawl-py": python_suite, "firecrawl-js": javascript_suite}.items():
            # Each has a server of its own: one test wants to see a crawl run, which is over at once when its pages are cached.
            server, address = start(gannet, folder, settings | {"GANNET_DATA_DIR": str(home / name)})
            try:
                fill_index(address)
                results[name] = suite(address, Path(environment).absolute(), folder)
            finally:
                server.terminate()
                server.wait()
    for name, (passed, skipped, failed) in results.items():
        print(f"{name}: {passed} passed, {len(skipped)} skipped, {len(failed)} failed")
        for test, why in skipped + failed:
            print(f"  {test}: {why[:300]}")
    if any(failed or not passed for passed, _, failed in results.values()):
        raise SystemExit(1)


def trusting_home(folder: Path, authority: Path) -> Path:
    """A home folder whose Chromium trusts the stand-in authority."""
    database = folder / "home/.pki/nssdb"
    database.mkdir(parents=True)
    store = f"sql:{database}"
    subprocess.run(["certutil", "-N", "-d", store, "--empty-password"], check=True)
    subprocess.run(["certutil", "-A", "-d", store, "-n", "suites", "-t", "C,,", "-i", str(authority)], check=True)
    for path in [folder / "home", *(folder / "home").rglob("*")]:
        os.chown(path, ACCOUNT, ACCOUNT)
    return folder / "home"


def server_settings(home: Path, authority: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GANNET_API_KEY": KEY,
        "GANNET_RESEARCH_STARTER": "off",
        "GANNET_EGRESS_ALLOW": f"scrape={ADDRESS}/32;webhook={ADDRESS}/32",
        "GANNET_NAME_SERVERS": f"127.0.0.1:{serve_names()}",
        "GANNET_EXTRA_CERTIFICATES": str(authority),
        "GANNET_MODEL_URL": serve_model(),
        "GANNET_MODEL_NAME": "stand-in",
    }


def start(gannet: str, folder: Path, settings: dict[str, str]):
    program = folder / "gannet"
    shutil.copy(gannet, program)
    command = [str(program), "serve", "--listen", "127.0.0.1:0"]
    log = open(folder / "server.log", "w")
    server = subprocess.Popen(
        command, env=settings, cwd=settings["HOME"], stdout=subprocess.PIPE, stderr=log, text=True, user=ACCOUNT, group=ACCOUNT, extra_groups=[]
    )
    for line in server.stdout:
        if "listening" in line:
            # Later output must not fill its pipe.
            threading.Thread(target=server.stdout.read, daemon=True).start()
            return server, next(word for word in line.split() if word.startswith("http://"))
    raise SystemExit(f"the server ended before it listened: {(folder / 'server.log').read_text()[-2000:]}")


def fill_index(address: str):
    """Reads pages, and waits until searches find them."""
    for host in HOSTS:
        # The last ones: a crawl reads the first ones, and it is over at once when they are cached.
        for path in ["", *paths(host)[-3:]]:
            call(address, "scrape", {"url": f"https://{host}/{path}"})
    end = time.monotonic() + 30
    while not call(address, "search", {"query": "capital of France"})["data"].get("web"):
        assert time.monotonic() < end, "searches find none of the pages"
        time.sleep(0.5)


def call(address: str, path: str, body: dict) -> dict:
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/v2/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def python_suite(address: str, environment: Path, folder: Path):
    report = folder / "python.xml"
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "API_KEY": KEY, "API_URL": address, "TEST_URL": address}
    suite = next(environment.glob("venv/lib/python*/site-packages/firecrawl/__tests__/e2e/v2"))
    tests = [str(suite), "-q", "-p", "no:cacheprovider", "-W", "ignore", f"--junitxml={report}"]
    command = [str(environment / "venv/bin/python"), "-m", "pytest", *tests, "--asyncio-mode=auto"]
    subprocess.run(command, env=variables, cwd=folder, timeout=LIMIT)
    passed, skipped, failed = 0, [], []
    for case in xml.parse(report).iter("testcase"):
        name = f"{case.get('classname').rsplit('.', 1)[-1]}::{case.get('name')}"
        problem = next((part for part in case if part.tag in ("failure", "error", "skipped")), None)
        if problem is None:
            passed += 1
        else:
            (skipped if problem.tag == "skipped" else failed).append((name, problem.get("message") or ""))
    return passed, skipped, failed


def javascript_suite(address: str, environment: Path, folder: Path):
    modules = (environment / "node/node_modules").resolve()
    # Jest reads no tests below `node_modules`, so the package's sources are copied beside it.
    package = folder / "firecrawl-js"
    shutil.copytree(modules / "@mendable/firecrawl-js", package)
    (package / "node_modules").symlink_to(modules)
    report = folder / "javascript.json"
    variables = {
        "PATH": f"{modules}/.bin:{os.environ['PATH']}",
        "HOME": str(folder),
        "TEST_URL": address,
        "FIRECRAWL_API_URL": address,
        "TEST_API_KEY": KEY,
        "FIRECRAWL_API_KEY": KEY,
        "TEST_TEAM_ID": "own",
        "NODE_OPTIONS": "--experimental-vm-modules",
    }
    command = ["node", str(modules / "jest/bin/jest.js"), "src/__tests__/e2e/v2/.*[.]test[.]ts$", "--json", f"--outputFile={report}"]
    subprocess.run(command, env=variables, cwd=package, timeout=LIMIT)
    passed, skipped, failed = 0, [], []
    for file in json.loads(report.read_text())["testResults"]:
        if not file["assertionResults"]:
            failed.append((Path(file["name"]).name, file["message"]))
        for test in file["assertionResults"]:
            if test["status"] == "passed":
                passed += 1
            else:
                kind = failed if test["status"] == "failed" else skipped
                kind.append((test["fullName"], " ".join(test["failureMessages"])))
    return passed, skipped, failed


if __name__ == "__main__":
    main(*sys.argv[1:])
