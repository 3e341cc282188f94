"""Documented calls of Playwright for Python at `cdpUrl`, each with a page in a context of its own."""

import json
import os
import time
import traceback

from playwright.sync_api import sync_playwright

from playwright_python_contexts import CALLS as CONTEXTS
from playwright_python_pages import CALLS as PAGES


def run(browser, site):
    only = os.environ.get("ONLY")
    every = int(os.environ.get("EVERY", "1"))
    for index, (name, call) in enumerate({**PAGES, **CONTEXTS}.items()):
        if (name not in only.split(",")) if only else index % every:
            continue
        began, error = time.monotonic(), None
        context = browser.new_context()
        context.set_default_timeout(20_000)
        try:
            call(browser, context, context.new_page(), site)
        except Exception:
            error = traceback.format_exc()[-1500:]
        context.close()
        print(json.dumps({"name": name, "ms": int(1000 * (time.monotonic() - began)), "error": error}), flush=True)


with sync_playwright() as playwright:
    connected = playwright.chromium.connect_over_cdp(os.environ["CDP_URL"])
    run(connected, os.environ["SITE_URL"])
    connected.close()
