"""firecrawl-py against browser sessions, sync and async: begin, run code, list, end; go on with a scrape by code and prompt."""

import asyncio
import os

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.utils.error_handler import FirecrawlError

url, key, site = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
page = f"{site}/article"


def check_session(session):
    assert session.success and session.id, session
    assert session.cdp_url.startswith("ws://") and session.id in session.cdp_url, session
    assert session.live_view_url != session.interactive_live_view_url, session


def check_executed(answer, wanted):
    assert answer.success and answer.exit_code == 0 and not answer.killed, answer
    assert wanted in (answer.result or ""), answer


# Language, code, what is in its result.
STEPS = [
    ("node", f"await page.goto('{page}'); page.url()", page),
    ("python", "await page.title() if hasattr(page.title(), '__await__') else page.title()", ""),
    ("bash", "get url", page),
    ("bash", "agent-browser get title", ""),
]


def use_sync():
    client = Firecrawl(api_key=key, api_url=url)
    session = client.browser(ttl=120, activity_ttl=60, stream_web_view=True, block_ads=True)
    check_session(session)
    listed = client.list_browsers(status="active")
    assert [one.id for one in listed.sessions] == [session.id], listed
    assert listed.sessions[0].status == "active" and listed.sessions[0].stream_web_view is True, listed
    for language, code, wanted in STEPS:
        check_executed(client.browser_execute(session.id, code, language=language, timeout=100), wanted)
    failed = client.browser_execute(session.id, "throw new Error('no fish')", language="node")
    assert failed.success and failed.exit_code == 1 and "no fish" in failed.stderr, failed

    ended = client.delete_browser(session.id)
    assert ended.success and ended.session_duration_ms > 0 and ended.credits_billed == 2, ended
    assert client.list_browsers(status="active").sessions == []
    assert [one.status for one in client.list_browsers().sessions] == ["destroyed"]
    try:
        client.delete_browser(session.id)
        raise SystemExit("a session was ended twice")
    except Exception as error:
        assert "destroyed" in str(error), str(error)

    scraped = client.scrape(page, formats=["markdown"])
    job = scraped.metadata.scrape_id
    assert client.interact(job, "page.url()", timeout=100).result == page
    assert client.interact(job, "print(page.url)", language="python", timeout=100).stdout.strip() == page
    assert client.interact(job, "get url", language="bash", timeout=100).stdout.strip() == page
    answer = client.interact(job, prompt="scroll down", timeout=100)
    assert answer.success and answer.output and answer.live_view_url, answer
    try:
        client.interact(job, "throw new Error('no fish')")
        raise SystemExit("code that fails was not an error")
    except FirecrawlError:
        pass
    assert client.stop_interaction(job).success


async def use_async():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    session = await client.browser(ttl=120)
    check_session(session)
    for language, code, wanted in STEPS:
        check_executed(await client.browser_execute(session.id, code, language=language, timeout=100), wanted)
    assert session.id in [one.id for one in (await client.list_browsers(status="active")).sessions]
    assert (await client.delete_browser(session.id)).success

    scraped = await client.scrape(page, formats=["markdown"])
    job = scraped.metadata.scrape_id
    assert (await client.interact(job, "page.url()", timeout=100)).result == page
    assert (await client.interact(job, prompt="scroll down", timeout=100)).output
    assert (await client.stop_interaction(job)).success


use_sync()
asyncio.run(use_async())
print("all passed")
