#!/usr/bin/env python3
"""Runs the agent tasks over documentation from Debian packages and counts right, wrong and missing fields.

    run.py GANNET SITES [TASK…]     GANNET is the program, SITES the folder that README.md tells how to fill

Right answers are read from the pages by selectors that were written down before the agent was run; the program
sees only the address, the question and the schema. Needs beautifulsoup4 and lxml.
"""
import collections, concurrent.futures, functools, http.server, json, os, pathlib, re, subprocess, sys, tempfile, threading, warnings
import bs4

warnings.filterwarnings("ignore", category=bs4.XMLParsedAsHTMLWarning)
# Share of common words from which on a value counts as right: a label kept, a suffix left out.
MIN_AGREEMENT = 0.75
TIMEOUT_SECONDS = 120


def clean(text):
    return re.sub(r"\s+", " ", text.replace("¶", " ").replace("\u200b", "")).strip()


def squeeze(value):
    text = str(value).lower()
    return re.sub(r"[^\w<>=@!?&|+*/%.-]+|_", "", text).strip(".")


def agreement(one, other):
    words = [collections.Counter(re.findall(r"\w+", str(text).lower())) for text in (one, other)]
    return 2 * sum((words[0] & words[1]).values()) / max(1, sum(words[0].values()) + sum(words[1].values()))


def is_right(given, accepted):
    return any(
        squeeze(given) == squeeze(value) or agreement(given, value) >= MIN_AGREEMENT for value in accepted if value
    )


def table_rows(soup, truth):
    for table in soup.find_all("table"):
        cells = [[clean(cell.get_text()) for cell in row.find_all(["th", "td"])] for row in table.find_all("tr")]
        if not cells or truth["table"] not in cells[0] or not set(truth["columns"]) <= set(cells[0]):
            continue
        at = [cells[0].index(column) for column in truth["columns"]]
        return [[[row[number]] for number in at] for row in cells[1:] if len(row) == len(cells[0])]
    raise SystemExit(f"no table with {truth['columns']}")


def term_rows(soup, truth):
    rows, seen = [], set()
    for block in soup.select(truth["terms"]):
        if id(block) in seen or block.find_parent("dd"):
            continue
        seen.add(id(block))
        terms = []
        for child in block.find_all(["dt", "dd"], recursive=False):
            if child.name == "dt":
                terms.append(clean(child.get_text(" ")))
                terms.extend(clean(code.get_text()) for code in child.find_all("code", class_="option"))
                continue
            paragraphs = [clean(paragraph.get_text()) for paragraph in child.find_all("p")]
            rows.append([[*terms, " ".join(terms)], [clean(child.get_text()), *paragraphs[:1]]])
            terms = []
    return rows


def expected_rows(soup, truth):
    """Rows of lists of accepted values, in the order of the fields."""
    if "table" in truth:
        return table_rows(soup, truth)
    if "terms" in truth:
        return term_rows(soup, truth)
    text = lambda element: [clean(element.get_text())] if element else []
    if "sections" in truth:
        rows = []
        for section in soup.select(truth["sections"]):
            labels = {clean(row.th.get_text()): text(row.td) for row in section.find_all("tr") if row.th and row.td}
            name = text(section.select_one(truth["name"]))
            rows.append([[*name, *(f"{value} Directive" for value in name)], *(labels.get(label, []) for label in truth["labels"])])
        return rows
    if "grid" in truth:
        cells = [text(cell) for cell in soup.select_one(truth["grid"]).find_all("div", recursive=False)]
        width = len(truth["order"])
        rows = [cells[at : at + width] for at in range(width, len(cells), width)]
        return [[row[number] for number in truth["order"]] for row in rows]
    return [
        [text(row if cell == "self" else row.select_one(cell)) for cell in truth["cells"]] for row in soup.select(truth["rows"])
    ]


def schema_of(task):
    properties = {name: {"type": kind} for name, kind in task["fields"].items()}
    record = {"type": "object", "properties": properties}
    if "list" not in task:
        return record
    return {"type": "object", "properties": {task["list"]: {"type": "array", "items": record}}}


def score(task, data, sites):
    """Counts of right, wrong and missing fields and of rows that nobody asked for, with the faults in words."""
    counts, faults = collections.Counter(), []
    data = data if isinstance(data, dict) else {}

    def judge(name, given, accepted):
        what = "missing" if given in (None, "") else "right" if is_right(given, accepted) else "wrong"
        counts[what] += 1
        if what != "right":
            faults.append(f"{what} {name}: {str(given)[:90]!r}, not {str(accepted[:1])[:90]}")

    if "list" not in task:
        for name, accepted in task["values"].items():
            judge(name, data.get(name), accepted)
        return counts, faults
    soup = bs4.BeautifulSoup((sites / task["url"]).read_bytes(), "lxml")
    names = list(task["fields"])
    given = [row for row in data.get(task["list"]) or [] if isinstance(row, dict)]
    for row in expected_rows(soup, task["truth"]):
        found = next((one for one in given if is_right(one.get(names[0], ""), row[0])), None)
        if found is not None:
            given.remove(found)
        for name, accepted in zip(names, row):
            if accepted and any(accepted):
                judge(name, (found or {}).get(name), accepted)
    counts["junk rows"] = len(given)
    faults.extend(f"junk row: {str(row)[:160]}" for row in given[:5])
    return counts, faults


class Pages(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main():
    gannet, sites = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    tasks = json.loads((pathlib.Path(__file__).parent / "tasks.json").read_text())
    tasks = [task for task in tasks if not sys.argv[3:] or task["id"] in sys.argv[3:]]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=str(sites)))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def run(task):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as schema:
            json.dump(schema_of(task), schema)
            schema.flush()
            url = f"http://127.0.0.1:{server.server_address[1]}/{task['url']}"
            environment = {**os.environ, "GANNET_EGRESS_ALLOW": "scrape=127.0.0.0/8"}
            command = [gannet, "agent", task["prompt"], "--url", url, "--schema", schema.name]
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, env=environment)
        try:
            data = json.loads(done.stdout)
        except ValueError:
            data = None
        return task, data, done.stderr.strip().splitlines()[-2:]

    total, shares = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for task, data, notes in pool.map(run, tasks):
            counts, faults = score(task, data, sites)
            total.update(counts)
            fields = counts["right"] + counts["wrong"] + counts["missing"]
            shares.append(counts["right"] / max(1, fields))
            print(f"{task['id']:<26} right {counts['right']:>3} wrong {counts['wrong']:>3} missing {counts['missing']:>3} junk rows {counts['junk rows']:>3}")
            for fault in faults[:8]:
                print(f"      {fault}")
            if faults:
                print(f"      says: {' / '.join(notes)[:300]}")
    fields = max(1, total["right"] + total["wrong"] + total["missing"])
    print(
        f"{len(tasks)} tasks, {fields} fields: right {100 * total['right'] / fields:.1f} %, wrong {100 * total['wrong'] / fields:.1f} %, "
        f"missing {100 * total['missing'] / fields:.1f} %, mean of tasks {100 * sum(shares) / max(1, len(shares)):.1f} %, junk rows {total['junk rows']}"
    )


if len(sys.argv) < 3:
    sys.exit(__doc__)
main()
