#!/usr/bin/env python3
"""Records the first minutes with Gannet in a terminal, and draws them as docs/terminal/first-minutes.svg.

    docs/terminal/record.py target/release/gannet

Each command is run for real, in a terminal of a fixed width and a new folder, against a small site that this
program serves; what it prints appears in the picture after the time it took (pauses are shortened). Only the
standard library is used. The key of the new server, which is deleted afterwards, is shown as gn-….
"""
import functools
import html
import http.server
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from fcntl import ioctl
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS = 104
MAX_PAUSE = 1.2  # seconds in the picture
MAX_COMMAND = 60  # seconds of a command
SITE_PORT = 8000
SERVER = "127.0.0.1:3002"
COMMANDS = [
    "export GANNET_EGRESS_ALLOW=scrape=127.0.0.0/8    # the site of this recording is on this machine",
    "gannet serve 2> gannet.log &",
    "gannet scrape http://127.0.0.1:8000/ | head -5",
    "gannet crawl http://127.0.0.1:8000/ --out pages.jsonl",
    "gannet parse paper.pdf | head -5",
    "gannet scrape http://127.0.0.1:8000/prices.html --schema prices.json",
    """curl -s http://127.0.0.1:3002/v2/scrape -H "Authorization: Bearer $(cat gannet-data/first-key)" \\
  -H 'Content-Type: application/json' -d '{"url":"http://127.0.0.1:8000/puffin.html"}' | cut -c1-93""",
    "gannet doctor | tail -1",
]
PAGES = {
    "index.html": "<h1>Seabirds of the island</h1><p>Three species nest on the cliffs, and each has a page here.</p>"
    "<ul><li><a href=gannet.html>Gannet</a><li><a href=puffin.html>Puffin</a><li><a href=prices.html>Visits</a></ul>",
    "gannet.html": "<h1>Gannet</h1><p>It dives for fish from thirty metres, at up to 24 metres a second.</p>",
    "puffin.html": "<h1>Puffin</h1><p>It nests in burrows, and carries a dozen sand eels at once.</p>",
    "prices.html": "<h1>Visits</h1><p>Boats leave twice a day from April to August.</p>"
    "<table><tr><th>Tour<th>Price<tr><td>Cliffs<td>£24.00<tr><td>Night<td>£39.50</table>",
}
SCHEMA = (
    '{"type":"object","properties":{"tours":{"type":"array","items":{"type":"object",'
    '"properties":{"tour":{"type":"string"},"price":{"type":"number"}}}}}}'
)


class QuietSite(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve_site(folder):
    for name, body in PAGES.items():
        page = f"<!doctype html><html lang=en><title>{name}</title><main>{body}</main></html>"
        (folder / name).write_text(page, encoding="utf-8")
    handler = functools.partial(QuietSite, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", SITE_PORT), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def read_quiet(terminal, seconds, start):
    """What appears until nothing has for some seconds, with the time of each piece."""
    pieces = []
    end = time.monotonic() + MAX_COMMAND
    while time.monotonic() < end and select.select([terminal], [], [], seconds)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        pieces.append((time.monotonic() - start, data.decode("utf-8", "replace")))
    return pieces


def print_paper(gannet, path):
    """A PDF to parse: the page that docs/parse.md shows, printed by the Chromium that Gannet has found."""
    report = subprocess.run([gannet, "doctor", "--json"], capture_output=True, text=True, cwd=path.parent).stdout
    chromium = next(part for part in json.loads(report)["parts"] if part["part"] == "chromium")["text"].split(": ")[0]
    subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--no-pdf-header-footer", f"--print-to-pdf={path}",
         (HERE.parent / "parse/paper.html").as_uri()],
        check=True, capture_output=True,
    )


def record(gannet, folder):
    """Types the commands into a shell. Returns (seconds, line) of what it shows."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    path = f"{Path(gannet).resolve().parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(folder), "TERM": "dumb", "PS1": "$ ", "PS2": "", "LANG": "C.UTF-8"}
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "--noediting", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
        cwd=folder, env=environment, start_new_session=True,
    )
    os.close(theirs)
    start = time.monotonic()
    read_quiet(ours, 0.5, start)
    shown = []
    for command in COMMANDS:
        typed = time.monotonic()
        os.write(ours, command.encode() + b"\n")
        text, ended = "", typed - start
        # A command has ended when the prompt is there again and stays.
        while time.monotonic() - typed < MAX_COMMAND:
            for at, piece in read_quiet(ours, 1.0, start):
                text, ended = text + piece, at
            # The server works in the background: its last line is a command to try.
            is_ready = "  try  " in text if command.endswith("&") else text.endswith("$ ")
            if is_ready or shell.poll() is not None:
                break
        # The shell shows what is typed; what comes after it is the output.
        typed_lines = command.split("\n")
        lines = text.replace("\r\n", "\n").split("\n")[len(typed_lines):]
        for number, line in enumerate(typed_lines):
            shown.append((typed - start, f"$ {line}" if number == 0 else f"> {line.strip()}"))
        for line in lines:
            line = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line.split("\r")[-1])
            is_job = re.match(r"\[\d+\] \d+$", line)
            if line.strip() and line != "$ " and not is_job:
                shown.append((ended, line.removeprefix("$ ")))
    os.write(ours, b"kill %1; wait; exit\n")
    read_quiet(ours, 3.0, start)
    os.close(ours)
    shell.wait(timeout=30)
    return shown


def draw(lines):
    size, height, left = 14, 20, 16
    width = int(COLUMNS * size * 0.602) + 2 * left
    total = 44 + height * len(lines) + 12
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" font-size="{size}"'
        ' font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace">',
        "<style>text{white-space:pre;fill:#c9d1d9;animation:s .01s steps(1) backwards}.c{fill:#7ee787}"
        "@keyframes s{from{visibility:hidden}to{visibility:visible}}"
        "@media(prefers-reduced-motion:reduce){text{animation:none}}</style>",
        f'<rect width="{width}" height="{total}" rx="8" fill="#0d1117"/>',
        '<g fill="#30363d"><circle cx="20" cy="18" r="6"/><circle cx="40" cy="18" r="6"/><circle cx="60" cy="18" r="6"/></g>',
    ]
    clock, last = 0.0, 0.0
    for number, (at, line) in enumerate(lines):
        clock += min(max(at - last, 0.0), MAX_PAUSE)
        last = at
        if len(line) > COLUMNS:
            line = line[: COLUMNS - 1] + "…"
        kind = ' class="c"' if line.startswith(("$ ", "> ")) else ""
        y = 44 + height * (number + 1) - 6
        text = html.escape(line, quote=False)
        out.append(f'<text x="{left}" y="{y}"{kind} style="animation-delay:{clock:.2f}s" xml:space="preserve">{text}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    if len(sys.argv) != 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    folder = Path(tempfile.mkdtemp(prefix="gannet-recording-"))
    try:
        site = folder / "site"
        site.mkdir()
        serve_site(site)
        work = folder / "work"
        work.mkdir()
        (work / "prices.json").write_text(SCHEMA)
        print_paper(sys.argv[1], work / "paper.pdf")
        lines = record(sys.argv[1], work)
        lines = [(at, re.sub(r"gn-[A-Za-z0-9]{20,}", "gn-…", line)) for at, line in lines]
        picture = draw(lines)
        (HERE / "first-minutes.svg").write_text(picture, encoding="utf-8")
        print(f"{len(lines)} lines, {len(picture.encode())} bytes, {lines[-1][0]:.1f} s of recording")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
