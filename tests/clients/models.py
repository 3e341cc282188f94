"""Features that need a language model, with the unmodified Python client and a scripted model."""

import asyncio
import os

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import ChangeTrackingFormat, JsonFormat
from pydantic import BaseModel

site, key, url = os.environ["SITE_URL"], os.environ["API_KEY"], os.environ["API_URL"]
page = f"{site}/article"


class Dive(BaseModel):
    title: str
    metres: int


def check(document):
    assert document.json == {"title": "How gannets dive", "metres": 30}, document.json
    assert document.summary == "Gannets dive from thirty metres.", document.summary
    assert document.metadata.credits_used == 5, document.metadata


def main():
    client = Firecrawl(api_key=key, api_url=url)
    wanted = JsonFormat(type="json", schema=Dive, prompt="title and height")
    check(client.scrape(page, formats=[wanted, "summary"]))
    answer = client.scrape(page, formats=[{"type": "question", "question": "How high?"}]).answer
    assert answer == "Thirty metres.", answer
    tracking = ChangeTrackingFormat(type="change_tracking", modes=["json"], schema=Dive.model_json_schema())
    tracked = client.scrape(page, formats=["markdown", tracking]).change_tracking
    assert tracked["changeStatus"] == "new", tracked
    tracked = client.scrape(page, formats=["markdown", tracking]).change_tracking
    assert tracked["changeStatus"] == "same" and tracked["json"] == {}, tracked

    options = client.crawl_params_preview(site, "Extract all blog posts and documentation")
    assert "blog/.*" in options.include_paths and "docs/.*" in options.include_paths, options
    job = client.start_crawl(page, prompt="the blog and the docs", limit=1)
    assert client.get_crawl_status(job.id).status in ("scraping", "completed")
    batch = client.batch_scrape([page], formats=[wanted, "summary"], poll_interval=1)
    assert batch.status == "completed" and batch.credits_used == 5, batch
    check(batch.data[0])


async def later():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    check(await client.scrape(page, formats=[{"type": "json", "schema": Dive.model_json_schema()}, "summary"]))
    options = await client.crawl_params_preview(site, "Extract all blog posts and documentation")
    assert "blog/.*" in options.include_paths, options


main()
asyncio.run(later())
print("all passed")
