"""firecrawl-py, sync and async, against the test site: every format and option of a scrape, with assertions on content."""

import asyncio
import os
import urllib.request

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import (
    AuditMetadata,
    ChangeTrackingFormat,
    ClickAction,
    ExecuteJavascriptAction,
    HighlightsFormat,
    Location,
    PDFAction,
    PressAction,
    ScrapeAction,
    ScreenshotAction,
    ScreenshotFormat,
    ScrollAction,
    ThreatProtectionOptions,
    Viewport,
    WaitAction,
    WriteAction,
)
from firecrawl.v2.utils import error_handler as errors

url, key, site = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
secure = os.environ["TLS_SITE_URL"]


def download(address):
    with urllib.request.urlopen(address) as answer:
        return answer.read()


async def formats(scrape):
    bare = await scrape(f"{site}/article")
    assert "firstword" in bare.markdown and "navigationword" not in bare.markdown, bare.markdown
    assert bare.metadata.status_code == 200 and bare.metadata.source_url == f"{site}/article", bare.metadata
    assert bare.metadata.title.startswith("How gannets dive") and bare.metadata.credits_used == 1
    assert bare.metadata.scrape_id and bare.metadata.proxy_used == "basic" and bare.metadata.cache_state in ("hit", "miss")

    page = await scrape(
        f"{site}/article",
        formats=["markdown", "html", "rawHtml", "links", "images", HighlightsFormat(query="what depth do they reach?"), "menu"],
    )
    assert "| Cellword | 31 m | 12 m |" in page.markdown and "```python" in page.markdown, page.markdown
    assert "<table" in page.html and "<script" not in page.html
    assert "navigationword" in page.raw_html
    assert f"{site}/puffins" in page.links and f"{site}/images/dive.jpg" in page.images
    assert "Depth" in page.highlights, page.highlights
    assert page.menu.is_menu is False

    product = (await scrape(f"{site}/product", formats=["product"])).product
    assert product.title == "Storm jacket" and product.variants[0].price.amount == 149.5, product
    assert product.variants[0].availability.in_stock is True
    menu = (await scrape(f"{site}/menu", formats=["menu"])).menu
    assert menu.is_menu and menu.merchant.name == "The Anchor", menu
    assert [section.name for section in menu.sections] == ["Soups", "Mains"], menu
    assert menu.sections[0].items[0].price.amount == 8.5, menu

    branding = (await scrape(f"{site}/brand", formats=["branding"])).branding
    assert branding.color_scheme == "light" and branding.colors["background"].upper() == "#FFFAF0", branding

    shot = await scrape(
        f"{site}/form", formats=["markdown", ScreenshotFormat(full_page=True, quality=60, viewport=Viewport(width=500, height=400))]
    )
    assert "Ferry booking" in shot.markdown and download(shot.screenshot)[:2] == b"\xff\xd8"
    assert download((await scrape(f"{site}/form", formats=["screenshot"])).screenshot)[:4] == b"\x89PNG"


async def tracking(scrape, tag):
    track = [ "markdown", ChangeTrackingFormat(modes=["git-diff"], tag=tag)]
    first = (await scrape(f"{site}/article", formats=track)).change_tracking
    second = (await scrape(f"{site}/article", formats=track)).change_tracking
    assert (first["changeStatus"], second["changeStatus"]) == ("new", "same"), (first, second)
    assert first["previousScrapeAt"] is None and second["previousScrapeAt"] and second["visibility"] == "visible"


async def options(scrape):
    whole = await scrape(f"{site}/article", only_main_content=False)
    assert "navigationword" in whole.markdown and "footerword" in whole.markdown
    part = await scrape(f"{site}/article", include_tags=[".facts"], exclude_tags=["li:first-child"])
    assert "Depth: 3" in part.markdown and "Height" not in part.markdown and "firstword" not in part.markdown, part.markdown
    inline = await scrape(f"{site}/article", remove_base64_images=False)
    assert "data:image/png;base64" in inline.markdown
    asked = await scrape(f"{site}/echo", headers={"X-Berth": "five"}, mobile=True, location=Location(country="DE", languages=["de"]))
    assert "x-berth: five" in asked.markdown and "Mobile" in asked.markdown and "accept-language: de" in asked.markdown, asked.markdown
    rendered = await scrape(f"{site}/app", wait_for=50, block_ads=False, timeout=30000)
    assert "renderedword" in rendered.markdown and rendered.metadata_dict["engine"] == "browser"
    plain = await scrape(f"{site}/article", fast_mode=True, proxy="basic", domain_tools=True, tool_detail="full", integration="x")
    assert "firstword" in plain.markdown
    pdf = await scrape(f"{site}/pdf", parsers=[])
    assert pdf.markdown.startswith("JVBERi"), pdf.markdown[:20]

    fresh = await scrape(f"{site}/etag", max_age=0)
    assert fresh.metadata.cache_state == "miss"
    stored = await scrape(f"{site}/etag", max_age=100000)
    assert stored.metadata.cache_state == "hit" and stored.metadata.cached_at
    locked = await scrape(f"{site}/etag", lockdown=True)
    assert locked.metadata.cache_state == "hit"
    await scrape(f"{site}/json", store_in_cache=False)

    trusted = await scrape(f"{secure}/article", skip_tls_verification=True, check_prompt_injection=True, audit_metadata=AuditMetadata(username="ada"))
    assert "firstword" in trusted.markdown


async def actions(scrape, profile):
    page = await scrape(
        f"{site}/form",
        formats=["markdown"],
        only_main_content=False,
        actions=[
            ClickAction(selector="#name"),
            WriteAction(text="Grace"),
            PressAction(key="Enter"),
            ClickAction(selector="#late"),
            WaitAction(selector="#arrived"),
            ScrollAction(direction="down"),
            WaitAction(milliseconds=20),
            ScreenshotAction(full_page=True),
            ScrapeAction(),
            ExecuteJavascriptAction(script="1 + 1"),
            PDFAction(format="A4", landscape=True, scale=0.5),
        ],
    )
    assert "submitted Grace" in page.markdown and "arrivedlate" in page.markdown, page.markdown
    done = page.actions
    assert done["javascriptReturns"] == [{"type": "number", "value": 2}], done
    assert "submitted Grace" in done["scrapes"][0]["html"] and done["scrapes"][0]["url"] == f"{site}/form"
    assert download(done["screenshots"][0])[:4] == b"\x89PNG" and download(done["pdfs"][0])[:5] == b"%PDF-"
    for before in (0, 1):
        diary = await scrape(f"{site}/diary", only_main_content=False, profile={"name": profile, "saveChanges": True})
        assert f"storage had {before}, cookie had {before}" in diary.markdown, diary.markdown


async def failures(scrape):
    async def fails(kind, status, code, address, **more):
        try:
            await scrape(address, **more)
        except errors.FirecrawlError as error:
            assert type(error) is kind, (address, error)
            assert error.status_code == status and (code is None or error.code == code), (error.status_code, error.code, error)
            return error
        raise SystemExit(f"{address} {more} was accepted")

    await fails(errors.DNSResolutionError, 200, "SCRAPE_DNS_RESOLUTION_ERROR", "http://no-such-host.invalid/")
    await fails(errors.TLSError, 500, "SCRAPE_SSL_ERROR", f"{secure}/article", skip_tls_verification=False, max_age=0)
    await fails(errors.WebsiteNotSupportedError, 403, "unsafe_domain_blocked", "http://10.1.2.3/")
    await fails(errors.WebsiteNotSupportedError, 403, "SCRAPE_PROMPT_INJECTION_DETECTED", f"{site}/injection", check_prompt_injection=True)
    blocked = ThreatProtectionOptions(mode="manual-only", blacklist=["127.0.0.1"])
    await fails(errors.WebsiteNotSupportedError, 403, "unsafe_domain_blocked", f"{site}/article", threat_protection=blocked)
    await fails(errors.RequestTimeoutError, 408, "SCRAPE_TIMEOUT", f"{site}/hang", timeout=1000)
    await fails(errors.BadRequestError, 400, "MODEL_NOT_CONFIGURED", f"{site}/article", formats=["summary"])
    await fails(errors.BadRequestError, 400, "MODEL_NOT_CONFIGURED", f"{site}/article", formats=[{"type": "json", "prompt": "x"}])
    await fails(errors.BadRequestError, 400, "SCRAPE_AUDIO_UNSUPPORTED_URL", f"{site}/article", formats=["audio"])
    await fails(errors.BadRequestError, 400, "BAD_REQUEST", f"{site}/article", use_mock="x")
    await fails(errors.InternalServerError, 500, "SCRAPE_ALL_ENGINES_FAILED", f"{site}/captcha")
    await fails(errors.InternalServerError, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR", f"{site}/pdf")
    gone = await fails(errors.InternalServerError, 500, "SCRAPE_ACTION_ERROR", f"{site}/form", timeout=15000, actions=[ClickAction(selector="#nowhere")])
    assert "#nowhere" in str(gone), gone
    await fails(errors.FirecrawlError, 404, "SCRAPE_LOCKDOWN_CACHE_MISS", f"{site}/page/none", lockdown=True)


async def resumes(scrape):
    """The client itself waits for a page that takes longer than its deadline."""
    page = await scrape(f"{site}/dripping?ms=1500", timeout=1000, max_age=0)
    assert "lastword" in page.markdown, page.markdown


def mapped(site_map):
    assert site_map.links[0].url == f"{site}/puffins", site_map.links
    assert len(site_map.links) <= 5


async def everything(scrape, name):
    await formats(scrape)
    await tracking(scrape, name)
    await options(scrape)
    await actions(scrape, name)
    await failures(scrape)
    await resumes(scrape)


def synchronous():
    client = Firecrawl(api_key=key, api_url=url)

    async def scrape(*arguments, **options):
        return client.scrape(*arguments, **options)

    asyncio.run(everything(scrape, "sync"))
    mapped(client.map(f"{site}/article", search="puffins", limit=5))


async def asynchronous():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    await everything(client.scrape, "async")
    mapped(await client.map(f"{site}/article", search="puffins", limit=5, sitemap="skip"))


synchronous()
asyncio.run(asynchronous())
print("all passed")
