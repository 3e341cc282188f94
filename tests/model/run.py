"""A real language model, end to end: the unmodified client, the real binary, llama.cpp and SmolLM2, all on loopback.

A model of this size is not clever. What is asserted is that answers have their shape, that they end, and that what is charged is right.

    run.py GANNET MODEL_PYTHON
"""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from firecrawl import Firecrawl

HERE = Path(__file__).parent
KEY = "gn-model-0123456789abcdef"
PAGE = b"""<!doctype html><html lang="en"><head><title>Harbour light</title></head><body><main><article>
<h1>Harbour light</h1>
<p>The harbour light was built in 1874. It is 31 metres tall and is kept by Amelia Hartwell.</p>
<p>Visitors may climb the tower on Saturdays. The entry fee is 12 crowns for adults, and children enter free.</p>
</article></main></body></html>"""


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


def started(command, mark, **more):
    """Starts a process and waits for the line that says where it listens."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)
    for line in process.stdout:
        if mark in line:
            # Later output must not fill its pipe.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, next(word for word in line.split() if word.startswith("http://"))
    raise SystemExit(f"{command[0]} ended before it listened")


def timed(what, work):
    began = time.monotonic()
    result = work()
    field = {"question": "answer", "preview": "limit", "agent": "data"}.get(what, what)
    print(f"  {what:<10} {time.monotonic() - began:6.1f} s  {json.dumps(getattr(result, field, None))[:160]}")
    return result


def check(client, page):
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "year": {"type": "integer"}, "open": {"enum": ["yes", "no"]}},
        "required": ["name", "year", "open"],
        "additionalProperties": False,
    }
    wanted = {"type": "json", "schema": schema, "prompt": "the name of the light, when it was built, whether it is open"}
    document = timed("json", lambda: client.scrape(page, formats=[wanted], timeout=240_000))
    assert isinstance(document.json["name"], str) and isinstance(document.json["year"], int), document.json
    assert document.json["open"] in ("yes", "no") and set(document.json) == {"name", "year", "open"}, document.json
    assert document.metadata.credits_used == 5, document.metadata

    document = timed("summary", lambda: client.scrape(page, formats=["summary"], timeout=240_000))
    assert len(document.summary) > 10, document.summary
    assert document.metadata.credits_used == 1, document.metadata

    question = {"type": "question", "question": "How much do adults pay?"}
    document = timed("question", lambda: client.scrape(page, formats=[question], timeout=240_000))
    assert len(document.answer) > 1, document.answer

    options = timed("preview", lambda: client.crawl_params_preview(page, "at most 5 pages of the blog"))
    assert options.limit is not None, options

    status = timed(
        "agent",
        lambda: client.agent(prompt="When was the harbour light built?", urls=[page], schema=schema, effort="low", max_credits=20, timeout=600),
    )
    assert status.status in ("completed", "failed"), status
    print(f"  the run of the agent {status.status}")


def main(gannet, model_python):
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    page = f"http://127.0.0.1:{site.server_address[1]}/light"
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            log = open(Path(folder) / "model.log", "w")
            model, model_url = started([model_python, str(HERE / "serve.py")], "http://", stderr=log)
            processes.append(model)
            settings = {
                "PATH": os.environ["PATH"],
                "GANNET_DATA_DIR": f"{folder}/data",
                "GANNET_API_KEY": KEY,
                "GANNET_RESEARCH_STARTER": "off",
                "GANNET_EGRESS_ALLOW": "scrape=127.0.0.0/8",
                "GANNET_MODEL_URL": model_url,
                "GANNET_MODEL_NAME": "smollm2",
                "GANNET_MODEL_TIMEOUT": "4m",
            }
            doctor = subprocess.run([gannet, "doctor"], env=settings, capture_output=True, text=True, cwd=folder)
            print(next(line for line in doctor.stdout.splitlines() if " model " in line and "smollm2" in line))
            server, address = started([gannet, "serve", "--listen", "127.0.0.1:0"], "listening", env=settings, cwd=folder)
            processes.append(server)
            check(Firecrawl(api_key=KEY, api_url=address), page)
            print("a real model works end to end")
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
