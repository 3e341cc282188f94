"""firecrawl-py, sync and async, against a server's own index: search with every option, developer and public law, the catalogue of tools."""

import asyncio
import os
import time

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import ScrapeOptions

url, key, site = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
ARTICLE = f"{site}/article"
BIRDS = {"issue:sea/birds#7", "pull_request:sea/birds#8", "readme:sea/birds"}
client = Firecrawl(api_key=key, api_url=url)


def refused(call, *words):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        assert all(word in str(error) for word in words), error
        return
    raise SystemExit(f"not refused: {words}")


def urls(hits):
    return [hit.url for hit in hits]


def searches():
    end = time.time() + 30
    while not (found := client.search("gannets dive")).web:
        assert time.time() < end, found
        time.sleep(0.1)
    hit = found.web[0]
    assert hit.url == ARTICLE and "gannet" in hit.title.lower() and hit.description, hit
    assert found.news is None and found.images is None, "only what was asked for"

    every = client.search(
        'gannets -puffins site:127.0.0.1 intitle:gannets',
        sources=["web", {"type": "news"}, "images", "alexandria"],
        domain_tools=True,
        tool_detail="compact",
        exclude_domains=["spam.example"],
        limit=5,
        tbs="qdr:y,sbd:1",
        location="Edinburgh",
        country="GB",
        ignore_invalid_urls=True,
        timeout=30000,
        highlights=True,
        integration="_e2e-test",
    )
    assert urls(every.web) == [ARTICLE], every
    assert every.news is not None and every.images is not None and every.tools == [], every
    assert "location" in every.warning, every.warning
    by_category = client.search("gannets", categories=["github", {"type": "pdf"}])
    assert by_category.web == [] and by_category.warning, by_category
    within = client.search("gannets", include_domains=["127.0.0.1"])
    assert urls(within.web) == [ARTICLE], within
    nothing = client.search("zzzqqq")
    assert nothing.web == [] and "none matches" in nothing.warning, nothing

    scraped = client.search("gannets dive", scrape_options=ScrapeOptions(formats=["markdown", "links"]), limit=3)
    document = scraped.web[0]
    assert "gannet" in document.markdown and document.links, document
    assert document.metadata.source_url == ARTICLE and document.metadata.status_code == 200, document.metadata

    refused(lambda: client.search("x" * 501), "query")
    refused(lambda: client.search("x", country="Scotland"), "country")


def collections():
    end = time.time() + 30
    while len((found := client.developer_search("plunge")).results) < 6:
        assert time.time() < end, found
        time.sleep(0.1)
    every = client.developer_search(
        "plunge",
        k=20,
        passages=5,
        types=["pull_request", "readme"],
        repos=["sea/birds"],
        language="Rust",
        topic=["dive", "ocean"],
        license="MIT",
        min_stars=100,
        max_stars=50000,
        archived=False,
        fork=False,
    )
    assert [result.id for result in every.results] == ["pull_request:sea/birds#8"], every
    result = every.results[0]
    assert result.passages and result.passages[0].citation_url == result.url, result
    assert (result.license.state, result.license.spdx_id) == ("licensed", "MIT"), result
    assert every.repos[0].indexed and every.repos[0].types.pull_request, every.repos
    assert {result.id for result in client.developer_search("plunge", repos=["sea/birds"]).results} == BIRDS
    docs = client.developer_search("plunge", sources=["manual", "other"], skills="only")
    assert [result.id for result in docs.results] == ["doc:https://docs.test/SKILL.md"], docs
    assert [source.indexed for source in docs.sources] == [True, False], docs.sources
    refused(lambda: client.developer_search("plunge", types=["doc"], repos=["sea/birds"]), "can match none")

    law = client.gov_search(
        "gannet trespass",
        k=5,
        jurisdiction="us",
        court="scotus",
        court_type="federal-supreme",
        cites="1 U.S. 1",
        domain="courts.test",
    )
    assert law.success and urls(law.data.web) == ["https://courts.test/birds-v-sea"], law
    assert "no trespass" in law.data.web[0].description, law
    assert client.gov_search("gannet", court="nowhere").data.web == []

    in_search = client.search("plunge", categories=["developer"])
    assert any("sea/birds" in hit.url for hit in in_search.web), in_search
    assert all(hit.category == "developer" for hit in in_search.web), in_search


def tools():
    found = client.find_tools(level="providers", limit=5)
    assert (found.items, found.total, found.next) == ([], 0, None), found


async def same_async():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    found = await client.search("gannets dive", limit=1, scrape_options=ScrapeOptions(formats=["markdown"]))
    assert "gannet" in found.web[0].markdown, found
    developer = await client.developer_search("plunge", repos=["sea/birds"])
    assert {result.id for result in developer.results} == BIRDS, developer
    law = await client.gov_search("gannet trespass")
    assert law.data.web[0].url == "https://courts.test/birds-v-sea", law
    tools = await client.find_tools()
    assert tools.items == [], tools


searches()
collections()
tools()
asyncio.run(same_async())
print("all passed")
