"""The v1 clients of firecrawl-py, sync and async, against the test site: every method, with assertions on content."""

import asyncio
import os
import threading
import urllib.request
import warnings

from firecrawl.v1.client import AsyncV1FirecrawlApp, V1FirecrawlApp, V1JsonConfig, V1ScrapeOptions

warnings.simplefilter("ignore", DeprecationWarning)
url, key, site = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
PAGES = {f"{site}{path}" for path in ("/site/", "/site/one", "/site/two", "/site/three")}
SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}


def whole_site(job):
    assert job.success and job.status == "completed" and job.completed == 4, job
    assert {page.metadata["sourceURL"] for page in job.data} == PAGES, job
    assert all("word" in page.markdown for page in job.data), job


def page(document, path):
    word = "word" + path.replace("/", "-") + "word"
    assert word in document.markdown and document.metadata["sourceURL"] == f"{site}{path}", document


def refused(call, *words):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        assert all(word in str(error) for word in words), error
        return
    raise SystemExit(f"not refused: {words}")


def research(found):
    assert found["success"] and found["status"] == "completed", found
    assert isinstance(found["data"]["finalAnalysis"], str) and found["activities"], found
    assert found["replacement"] == "/v2/agent" and found["warnings"], found


def overview(made):
    assert made.success and made.status == "completed" and made.data.llmstxt.startswith("# "), made
    assert made.data.llmstxt.count(f"({site}/site/") == 4, made.data.llmstxt
    assert "word-site-oneword" in made.data.llmsfulltxt, made.data.llmsfulltxt


client = V1FirecrawlApp(api_key=key, api_url=url)

page(client.scrape_url(f"{site}/site/one"), "/site/one")
both = client.scrape_url(f"{site}/site/one", formats=["markdown", "links", "extract"], extract=V1JsonConfig(schema=SCHEMA), max_age=60_000)
assert both.extract is not None and both.links, both
assert client.scrape_url(f"{site}/site/one", formats=["json"], json_options=V1JsonConfig(schema=SCHEMA)).json_field is not None
refused(lambda: client.scrape_url(f"{site}/site/one", formats=["markdown"], json_options=V1JsonConfig(prompt="x")), "jsonOptions")
refused(lambda: client.scrape_url("not a url"), "scrape")

whole_site(client.crawl_url(f"{site}/site/", limit=10, max_depth=3, ignore_sitemap=True, poll_interval=1))
started = client.async_crawl_url(f"{site}/site/", limit=10, scrape_options=V1ScrapeOptions(formats=["markdown"]))
assert started.success and "/v1/crawl/" in started.url, started
while (state := client.check_crawl_status(started.id)).status == "scraping":
    threading.Event().wait(0.2)
whole_site(state)
errors = client.check_crawl_errors(started.id)
assert [error.url for error in errors.errors] == [f"{site}/site/broken"], errors
assert errors.robotsBlocked == [f"{site}/site/secret/plan"], errors
refused(lambda: client.cancel_crawl(started.id), "cancel")

seen = []
watcher = client.crawl_url_and_watch(f"{site}/site/", limit=10)
watcher.add_event_listener("document", lambda event: seen.append(event["data"]))
done = threading.Event()
watcher.add_event_listener("done", lambda event: done.set())
asyncio.run(asyncio.wait_for(watcher.connect(), 60))
assert done.is_set() and len(seen) == 4, seen

mapped = client.map_url(f"{site}/site/")
assert mapped.success and f"{site}/site/one" in mapped.links, mapped

batch = client.batch_scrape_urls([f"{site}/site/one", f"{site}/site/two"], poll_interval=1)
assert batch.status == "completed" and len(batch.data) == 2, batch
started = client.async_batch_scrape_urls([f"{site}/site/one"])
assert started.success and "/v1/batch/scrape/" in started.url, started
while (state := client.check_batch_scrape_status(started.id)).status == "scraping":
    threading.Event().wait(0.2)
page(state.data[0], "/site/one")
assert client.check_batch_scrape_errors(started.id).errors == []

found = client.search("word-site-oneword", limit=3)
assert found.success and found.data and all(hit["url"] for hit in found.data), found

data = client.extract([f"{site}/site/one"], schema=SCHEMA)
assert data.success and data.status == "completed" and data.data is not None, data
started = client.async_extract([f"{site}/site/one"], schema=SCHEMA)
while (state := client.get_extract_status(started.id)).status == "processing":
    threading.Event().wait(0.2)
assert state.data is not None, state

assert client.get_credit_usage().data.remaining_credits > 0
assert client.get_token_usage().data.remaining_tokens > 0
assert client.get_credit_usage_historical().periods and client.get_token_usage_historical().success

overview(client.generate_llms_text(f"{site}/site/", max_urls=10))
research(client.deep_research("word-site-oneword", max_depth=1))
refused(lambda: client.check_deep_research_status("00000000-0000-4000-8000-000000000000"), "not found")

wrong = V1FirecrawlApp(api_key="gn-wrong", api_url=url)
refused(lambda: wrong.scrape_url(f"{site}/site/one"), "401")

with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/team/credit-usage", headers={"Authorization": f"Bearer {key}"})) as response:
    assert response.headers["Deprecation"] == "true" and "/v2/team" in response.headers["Link"], response.headers


async def all_async():
    client = AsyncV1FirecrawlApp(api_key=key, api_url=url)
    page(await client.scrape_url(f"{site}/site/one"), "/site/one")
    whole_site(await client.crawl_url(f"{site}/site/", limit=10, poll_interval=1))
    started = await client.async_crawl_url(f"{site}/site/", limit=10)
    while (state := await client.check_crawl_status(started.id)).status == "scraping":
        await asyncio.sleep(0.2)
    whole_site(state)
    assert (await client.check_crawl_errors(started.id))["errors"]
    assert f"{site}/site/one" in (await client.map_url(f"{site}/site/")).links
    batch = await client.batch_scrape_urls([f"{site}/site/one"], poll_interval=1)
    page(batch.data[0], "/site/one")
    assert (await client.search("word-site-oneword"))["data"]
    assert (await client.extract([f"{site}/site/one"], schema=SCHEMA)).data is not None
    made = await client.generate_llms_text(f"{site}/site/", max_urls=10)
    assert made["status"] == "completed" and f"({site}/site/one)" in made["data"]["llmstxt"], made
    research(await client.deep_research("word-site-oneword", max_depth=1))


asyncio.run(all_async())
print("all passed")
