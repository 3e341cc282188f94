"""firecrawl-py, sync and async, against monitors: all eight methods."""

import asyncio
import os
import time
import urllib.request

from firecrawl import AsyncFirecrawl, Firecrawl

url, key, site = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
client = Firecrawl(api_key=key, api_url=url)


def set_content(content):
    urllib.request.urlopen(urllib.request.Request(f"{site}/content", data=content.encode(), method="POST")).read()


def request(**more):
    return {
        "name": "Chair",
        "schedule": {"text": "every 30 minutes", "timezone": "Europe/Berlin"},
        "targets": [{"type": "scrape", "urls": [f"{site}/chair"]}],
        "goal": "the price",
        "notification": {"email": {"enabled": False, "recipients": []}},
        **more,
    }


set_content("<p>Price: 80 EUR</p>")
monitor = client.create_monitor(**request(retention_days=7))
assert monitor.status == "active" and monitor.retention_days == 7 and monitor.judge_enabled, monitor
assert monitor.schedule.cron and monitor.schedule.timezone == "Europe/Berlin", monitor
assert client.get_monitor(monitor.id).name == "Chair"
assert [one.id for one in client.list_monitors(limit=5, offset=0)] == [monitor.id]


def run_to_end():
    check = client.run_monitor(monitor.id)
    assert check.trigger == "manual", check
    deadline = time.monotonic() + 60
    while check.status in ("queued", "running"):
        assert time.monotonic() < deadline, check
        time.sleep(0.2)
        check = client.get_monitor_check(monitor.id, check.id, limit=1)
    return check


first = run_to_end()
assert first.summary.new == 1 and first.pages[0].status == "new", first
set_content("<p>Price: 45 EUR</p>")
changed = run_to_end()
page = changed.pages[0]
assert page.status == "changed" and "+Price: 45 EUR" in page.diff.text, changed
assert page.judgment.meaningful and page.judgment.meaningful_changes[0].type == "changed", page
assert changed.target_results[0].expected_jobs == [page.current_scrape_id], changed
checks = client.list_monitor_checks(monitor.id, limit=10)
assert [one.id for one in checks] == [changed.id, first.id], checks
updated = client.update_monitor(monitor.id, status="paused", name="Armchair")
assert updated.status == "paused" and updated.name == "Armchair" and updated.next_run_at is None, updated
try:
    client.run_monitor(monitor.id)
    raise SystemExit("a paused monitor ran")
except Exception as error:
    assert "paused" in str(error), error
assert client.delete_monitor(monitor.id) is True
try:
    client.get_monitor(monitor.id)
    raise SystemExit("a deleted monitor was found")
except Exception as error:
    assert "Monitor not found" in str(error), error


async def run_async():
    other = AsyncFirecrawl(api_key=key, api_url=url)
    made = await other.create_monitor(**request(name="Async"))
    assert (await other.get_monitor(made.id)).name == "Async"
    assert [one.id for one in await other.list_monitors()] == [made.id]
    check = await other.run_monitor(made.id)
    while check.status in ("queued", "running"):
        await asyncio.sleep(0.2)
        check = await other.get_monitor_check(made.id, check.id)
    assert check.summary.new == 1 and len(check.pages) == 1, check
    assert len(await other.list_monitor_checks(made.id)) == 1
    assert (await other.update_monitor(made.id, goal="colours")).goal == "colours"
    assert await other.delete_monitor(made.id) is True


asyncio.run(run_async())
print("all passed")
