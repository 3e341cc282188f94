"""firecrawl-py, sync and async, against the research index with its starter corpus."""

import asyncio
import os

from firecrawl import AsyncFirecrawl, Firecrawl

url, key = os.environ["API_URL"], os.environ["API_KEY"]
SEED = "doi:10.7554/elife.26957"


def check(found, paper, passages, related, reranked, references):
    assert found["success"] and len(found["results"]) == 5, found
    assert any("cell size" in result["title"].lower() for result in found["results"]), found
    assert "Cell size sensing" in paper["paper"]["title"], paper
    assert paper["paper"]["ids"]["doi"] == ["10.7554/elife.26957"], paper
    assert passages["query"] == "growth rate" and passages["passages"][0]["text"], passages
    assert len(related["results"]) == 7 and related["poolSize"] >= 7, related
    for result in related["results"]:
        assert set(result["signals"]) == {"structural", "semantic", "articleRank", "seedOverlap"}, result
    assert reranked["success"] and references["success"]
    assert all(result["primaryId"] != SEED for result in related["results"])


QUERY = dict(k=5)
client = Firecrawl(api_key=key, api_url=url)
seed = client.inspect_paper(SEED)["paper"]["paperId"]
check(
    client.search_papers("cell size control", **QUERY),
    client.inspect_paper(SEED),
    client.read_paper(SEED, "growth rate", k=2),
    client.related_papers(SEED, "how cells sense their own size", k=7),
    client.related_papers(seed, "size control", k=3, rerank=True, anchor=[SEED]),
    client.related_papers(SEED, "size control", mode="references"),
)


async def asynchronous():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    check(
        await client.search_papers("cell size control", **QUERY),
        await client.inspect_paper(SEED),
        await client.read_paper(SEED, "growth rate", k=2),
        await client.related_papers(SEED, "how cells sense their own size", k=7),
        await client.related_papers(seed, "size control", k=3, rerank=True, anchor=[SEED]),
        await client.related_papers(SEED, "size control", mode="references"),
    )


asyncio.run(asynchronous())

for call in (lambda: client.inspect_paper("doi:10.1/none"), lambda: client.related_papers(SEED, "x", k=501)):
    try:
        call()
        raise SystemExit("a bad request was accepted")
    except Exception as error:
        assert "Not Found" in str(error) or "at most 500" in str(error), str(error)

print("all passed")
