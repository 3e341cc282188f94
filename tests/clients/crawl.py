"""firecrawl-py, sync and async, against the test site: every method for crawls, batches, maps and watching, with assertions on content."""

import asyncio
import json
import os
import time
import urllib.request
import uuid
from unittest.mock import patch

import websockets
from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import PaginationConfig, ScrapeOptions
from firecrawl.v2.utils.error_handler import CrawlJobTimeoutError
from firecrawl.v2.utils.http_client import HttpClient

url, key, site = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
PAGES = {f"{site}{path}" for path in ("/site/", "/site/one", "/site/two", "/site/three")}
ONE_BY_ONE = PaginationConfig(auto_paginate=False)


def release(pages):
    urllib.request.urlopen(f"{site}/release/{pages}").read()


def sources(job):
    return [document.metadata.source_url for document in job.data]


def whole_site(job):
    assert job.status == "completed" and job.completed == 4 and job.total == 5, job
    assert set(sources(job)) == PAGES and len(job.data) == 4, sources(job)
    assert job.credits_used == 4 and job.expires_at is not None and job.next is None, job
    for document in job.data:
        word = "word" + document.metadata.source_url.removeprefix(site).replace("/", "-") + "word"
        assert word in document.markdown, document.markdown
        assert document.metadata.status_code == 200 and document.metadata.scrape_id


def site_errors(errors):
    assert [error.url for error in errors.errors] == [f"{site}/site/broken"], errors
    assert errors.errors[0].code == "SCRAPE_SITE_ERROR" and "404" in errors.errors[0].error, errors
    assert errors.errors[0].id and errors.errors[0].timestamp is not None
    assert errors.robots_blocked == [f"{site}/site/secret/plan"], errors


def refused(call, *words):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        assert all(word in str(error) for word in words), error
        return
    raise SystemExit(f"not refused: {words}")


async def refused_async(call, *words):
    try:
        await call
    except Exception as error:  # noqa: BLE001
        assert all(word in str(error) for word in words), error
        return
    raise SystemExit(f"not refused: {words}")


client = Firecrawl(api_key=key, api_url=url)


def crawls():
    job = client.crawl(f"{site}/site/", limit=20, poll_interval=1, timeout=60, integration="_e2e-test")
    whole_site(job)
    assert "robots.txt" in job.warning, job.warning
    whole_site(client.get_crawl_status(job.id))
    whole_site(client.wait_crawl(job.id, poll_interval=1, timeout=60))
    whole_site(client.crawl_url(f"{site}/site/", {"limit": 20, "maxDepth": 5}, poll_interval=1))
    site_errors(client.get_crawl_errors(job.id))
    site_errors(client.check_crawl_errors(job.id))
    assert client.check_crawl_status(job.id).status == "completed"
    assert client.cancel_crawl(job.id) is False, "it has ended"

    every = client.crawl(
        site.removeprefix("http://") + "/site/", limit=3, max_discovery_depth=1, sitemap="skip", include_paths=["^/site/"],
        exclude_paths=["three"], ignore_query_parameters=True, crawl_entire_domain=True, allow_subdomains=True, allow_external_links=False,
        regex_on_full_url=False, deduplicate_similar_urls=True, ignore_robots_txt=True, max_concurrency=2, zero_data_retention=False,
        scrape_options=ScrapeOptions(formats=["markdown", "links"], only_main_content=False), poll_interval=1, timeout=60,
    )
    assert every.completed == 3 and not any("three" in source for source in sources(every)), every
    assert all(document.links is not None for document in every.data)
    slow = client.crawl(f"{site}/site/", limit=2, delay=1, poll_interval=1)
    assert slow.completed == 2, slow

    pages, next_url = [], f"{url}/v2/crawl/{job.id}?limit=3"
    while next_url:
        page = client.get_crawl_status_page(next_url)
        assert page.data and page.id == job.id, page
        pages, next_url = pages + sources(page), page.next
    assert pages == sources(job), pages

    running = client.start_crawl(f"{site}/held/", limit=9)
    assert running.url == f"{url}/v2/crawl/{running.id}", running
    listed = [crawl for crawl in client.active_crawls().crawls if crawl.id == running.id]
    assert listed and listed[0].url == f"{site}/held/" and listed[0].team_id and listed[0].options["limit"] == 9, listed
    assert running.id in [crawl.id for crawl in client.get_active_crawls().crawls]
    status = client.get_crawl_status(running.id)
    assert status.status == "scraping" and status.expires_at is not None and status.next is None, status
    try:
        client.wait_crawl(running.id, poll_interval=1, timeout=1)
        raise SystemExit("it cannot have ended")
    except CrawlJobTimeoutError as error:
        assert error.job_id == running.id
    assert client.cancel_crawl(running.id) is True
    assert client.get_crawl_status(running.id).status == "cancelled"
    started = client.async_crawl_url(f"{site}/alone", {"limit": 1})
    assert client.wait_crawl(started["id"] if isinstance(started, dict) else started.id, poll_interval=1).completed == 1

    refused(lambda: client.get_crawl_errors("invalid-job-id-12345"), "Invalid job ID")
    refused(lambda: client.get_crawl_status(str(uuid.uuid4())), "Job not found")
    refused(lambda: client.cancel_crawl(str(uuid.uuid4())), "Job not found")
    refused(lambda: client.start_crawl(f"{site}/site/", include_paths=["("]), "includePaths")
    # Without a model a prompt is read by rules, and the response says so.
    preview = client.crawl_params_preview(f"{site}/site/", "only the blog, at most 7 pages")
    assert preview.include_paths == ["blog/.*"] and preview.limit == 7 and "model" in preview.warning, preview


def batches():
    urls = [f"{site}/site/one", f"{site}/site/two", f"{site}/site/one"]
    job = client.batch_scrape(urls, formats=["markdown"], poll_interval=1, wait_timeout=60, max_concurrency=2, integration="_e2e-test")
    assert job.status == "completed" and sorted(sources(job)) == urls[:2] and job.total == 2 and job.credits_used == 2, job
    assert client.batch_scrape_urls(urls, {"formats": ["markdown"]}, poll_interval=1).completed == 2
    started = client.start_batch_scrape(urls + ["http://"], ignore_invalid_urls=True, idempotency_key=str(uuid.uuid4()), zero_data_retention=False)
    assert started.invalid_urls == ["http://"] and started.url.endswith(started.id), started
    while client.get_batch_scrape_status(started.id).status == "scraping":
        time.sleep(0.1)
    assert client.check_batch_scrape_status(started.id).status == "completed"
    client.start_batch_scrape([f"{site}/site/three"], append_to_id=started.id)
    while len((job := client.get_batch_scrape_status(started.id)).data) < 3:
        time.sleep(0.1)
    assert set(sources(job)) == {*urls, f"{site}/site/three"}
    page = client.get_batch_scrape_status_page(f"{url}/v2/batch/scrape/{started.id}?limit=2")
    assert len(page.data) == 2 and len(client.get_batch_scrape_status_page(page.next).data) == 1

    failing = client.start_batch_scrape(["http://10.1.2.3/"])
    while client.get_batch_scrape_status(failing.id).status == "scraping":
        time.sleep(0.1)
    for errors in (client.get_batch_scrape_errors(failing.id), client.check_batch_scrape_errors(failing.id)):
        assert errors.errors[0].url == "http://10.1.2.3/" and errors.robots_blocked == [], errors

    held = client.async_batch_scrape_urls([f"{site}/held/x"])
    with patch.object(HttpClient, "get", autospec=True, side_effect=HttpClient.get) as get:
        assert client.get_batch_scrape_status(held.id).status == "scraping"
    assert get.call_count <= 2, "a running batch is asked once"
    assert client.cancel_batch_scrape(held.id) is True
    assert client.get_batch_scrape_status(held.id).status == "cancelled"
    refused(lambda: client.start_batch_scrape(["http://"]), "No valid URLs provided")
    refused(lambda: client.start_batch_scrape(urls, append_to_id=str(uuid.uuid4())), "Job not found")


def maps():
    links = client.map(f"{site}/site/", limit=10).links
    assert f"{site}/site/one" in [link.url for link in links] and len(links) <= 10, links
    assert client.map(f"{site}/site/", search="three", limit=1).links[0].url == f"{site}/site/three"
    assert client.map_url(f"{site}/site/").links


def watchers():
    for kind, start in (
        ("crawl", lambda: client.start_crawl(f"{site}/held/", limit=9).id),
        ("batch", lambda: client.start_batch_scrape([f"{site}/held/{number}" for number in range(6)]).id),
    ):
        job, snapshots, documents, done = start(), [], [], []
        watcher = client.watcher(job, kind=kind, poll_interval=30, timeout=60)
        watcher.add_listener(snapshots.append)
        watcher.add_event_listener("document", lambda event: documents.append(event["data"]))
        watcher.add_event_listener("done", done.append)
        watcher.start()
        while not snapshots:
            time.sleep(0.05)
        assert snapshots[0].status == "scraping", snapshots
        release(6)
        for _ in range(600):
            if done:
                break
            time.sleep(0.05)
        watcher.stop()
        assert done and done[0]["status"] == "completed" and len(done[0]["data"]) == 6, (kind, done)
        assert snapshots[-1].status == "completed" and len(snapshots[-1].data) == 6, (kind, snapshots[-1])
        places = [document["metadata"]["sourceURL"] for document in documents]
        assert len(set(places)) == len(places), places
        if kind == "batch":
            # Releases that were not used would let later pages go.
            assert set(places) <= {f"{site}/held/{number}" for number in range(6)}


def socket_url(path):
    return url.replace("http", "ws", 1) + path


async def sockets():
    """Raw HTTP, without the client library."""
    bearer = {"Authorization": f"Bearer {key}"}
    job = client.start_crawl(f"{site}/held/", limit=9).id
    async with websockets.connect(socket_url(f"/v2/crawl/{job}"), max_size=None, subprotocols=[key]) as socket:
        assert socket.subprotocol == key, "the key that came as a protocol is taken, and said back"
        first = json.loads(await socket.recv())
        assert first["type"] == "catchup" and first["data"]["status"] == "scraping" and first["data"]["success"], first
        seen = list(first["data"]["data"])
        release(5)
        frames = []
        try:
            while True:
                frames.append(json.loads(await asyncio.wait_for(socket.recv(), 20)))
        except websockets.ConnectionClosed as closed:
            assert closed.rcvd.code == 1000, closed
            assert json.loads(closed.rcvd.reason)["status"] == "completed", closed
    seen += [frame["data"] for frame in frames if frame.get("type") == "document"]
    assert len({document["metadata"]["sourceURL"] for document in seen}) == len(seen) == 6, len(seen)
    assert not any(frame.get("type") == "done" or frame.get("status") == "completed" for frame in frames), frames

    async def closes(path, headers):
        try:
            async with websockets.connect(socket_url(path), additional_headers=headers) as socket:
                while True:
                    frame = json.loads(await asyncio.wait_for(socket.recv(), 20))
                    assert frame["type"] == "catchup", frame
        except websockets.ConnectionClosed as closed:
            json.loads(closed.rcvd.reason)
            return closed.rcvd.code

    assert await closes(f"/v2/crawl/{job}", bearer) == 1000, "an ended one is caught up with"
    assert await closes(f"/v2/crawl/{uuid.uuid4()}", bearer) == 1008
    assert await closes("/v2/crawl/nonsense", bearer) == 1008
    assert await closes(f"/v2/batch/scrape/{job}", bearer) == 1008, "a crawl is no batch"
    assert await closes(f"/v2/crawl/{job}", {"Authorization": "Bearer wrong"}) == 3000
    assert await closes(f"/v2/crawl/{job}", {}) == 3000
    others = {"Authorization": f"Bearer {os.environ['OTHER_KEY']}"}
    assert await closes(f"/v2/crawl/{job}", others) == 1008, "another team's is as good as none"


async def asynchronous():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    job = await client.crawl(url=f"{site}/site/", limit=20, poll_interval=1, timeout=60)
    whole_site(job)
    whole_site(await client.get_crawl_status(job.id))
    whole_site(await client.wait_crawl(job.id, poll_interval=1))
    whole_site(await client.crawl_url(f"{site}/site/", {"limit": 20}, poll_interval=1))
    site_errors(await client.get_crawl_errors(job.id))
    site_errors(await client.check_crawl_errors(job.id))
    assert (await client.check_crawl_status(job.id)).status == "completed"
    first = await client.get_crawl_status_page(f"{url}/v2/crawl/{job.id}?limit=3")
    rest = await client.get_crawl_status_page(first.next)
    assert sources(first) + sources(rest) == sources(job)
    assert len((await client.get_crawl_status(job.id, ONE_BY_ONE)).data) == 4

    running = await client.start_crawl(f"{site}/held/", limit=9)
    assert running.id in [crawl.id for crawl in (await client.active_crawls()).crawls]
    assert await client.cancel_crawl(running.id) is True
    # Cancelling the waiting task cancels the crawl.
    waiting = asyncio.ensure_future(client.crawl(url=f"{site}/held/", limit=9, poll_interval=1))
    await asyncio.sleep(1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert (await client.active_crawls()).crawls == []
    begun = await client.async_crawl_url(f"{site}/alone", {"limit": 1})
    assert (await client.wait_crawl(begun["id"] if isinstance(begun, dict) else begun.id, poll_interval=1)).completed == 1

    urls = [f"{site}/site/one", f"{site}/site/two"]
    batch = await client.batch_scrape(urls, poll_interval=1, timeout=60)
    assert sorted(sources(batch)) == urls, batch
    assert (await client.batch_scrape_urls(urls, poll_interval=1)).completed == 2
    begun = await client.start_batch_scrape(urls, options=ScrapeOptions(formats=["html"]), ignore_invalid_urls=True)
    done = await client.v2.wait_batch_scrape(begun.id, poll_interval=1, timeout=60)
    assert all("<main>" in document.html or "<h1" in document.html for document in done.data)
    assert (await client.get_batch_scrape_status(begun.id)).completed == 2
    assert len((await client.get_batch_scrape_status_page(f"{url}/v2/batch/scrape/{begun.id}?limit=1")).data) == 1
    assert (await client.check_batch_scrape_status(begun.id)).status == "completed"
    # This method returns the response of the server unchanged.
    assert (await client.get_batch_scrape_errors(begun.id))["errors"] == []
    assert (await client.check_batch_scrape_errors(begun.id))["errors"] == []
    held = await client.async_batch_scrape_urls([f"{site}/held/y"])
    assert await client.cancel_batch_scrape(held.id) is True
    assert (await client.map(f"{site}/site/", limit=3)).links and (await client.map_url(f"{site}/site/")).links

    for kind, start in (
        ("crawl", client.start_crawl(f"{site}/held/", limit=9)),
        ("batch", client.start_batch_scrape([f"{site}/held/{number}" for number in range(6)])),
    ):
        job = (await start).id
        released, last = False, None
        async for last in client.watcher(job, kind=kind, poll_interval=30, timeout=60):
            if not released:
                assert last.status == "scraping", last
                release(6)
                released = True
        assert last.status == "completed" and len(last.data) == 6, (kind, last)
    await refused_async(client.get_crawl_errors("invalid-job-id-12345"), "Invalid job ID")
    preview = await client.crawl_params_preview(f"{site}/site/", "only the blog")
    assert preview.include_paths == ["blog/.*"], preview


crawls()
batches()
maps()
watchers()
asyncio.run(sockets())
asyncio.run(asynchronous())
print("all passed")
