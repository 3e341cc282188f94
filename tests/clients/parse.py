"""firecrawl-py, sync and async: every way to hand over a file, every option of a parse, its errors and its formats."""

import asyncio
import io
import os
import tempfile
from pathlib import Path

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import HighlightsFormat, Location, PDFParser, WaitAction
from firecrawl.v2.utils import error_handler as errors

url, key = os.environ["API_URL"], os.environ["API_KEY"]

HTML = b"""<html><head><title>Report on gannets</title></head><body><nav><ul><li><a href="https://example.org/">navigationword</a></li></ul></nav><main><h1>Gannets</h1>
<p>They dive from thirty metres. Write to diver@example.org or see <a href="https://example.org/more">more</a>.</p>
<p>Northern gannets are seabirds of the Atlantic. They nest in large colonies on cliffs and islands, and return to the
same nest every year. A pair raises one chick, which leaves the colony after three months and spends years at sea.</p>
<p>Their eyes see the fish from above, and the air sacs under their skin soften the blow when they hit the water.</p>
<table><tr><th>Name</th><th>Depth</th></tr><tr><td>Cellword</td><td>12 m</td></tr></table></main></body></html>"""


def pdf(pages):
    """A PDF with one line of text on each page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        stream = f"BT /F1 18 Tf 72 700 Td ({text}) Tj ET".encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


PAGES = pdf(["The first page tells of gannets.", "The second page tells of puffins.", "The third page tells of terns."])


async def inputs(parse, folder):
    path = folder / "report.html"
    path.write_bytes(HTML)
    for file in [path, str(path)]:
        document = await parse(file)
        assert "# Gannets" in document.markdown and "navigationword" not in document.markdown, document.markdown
        assert document.metadata.title == "Report on gannets", document.metadata
        assert document.metadata.credits_used == 1 and document.metadata.scrape_id, document.metadata
        assert document.metadata.model_extra["sourceFile"] == "report.html", document.metadata
    for file, name in [(HTML, "a.html"), (bytearray(HTML), "b.html"), (io.BytesIO(HTML), "c.html")]:
        document = await parse(file, filename=name, content_type="text/html")
        assert "air sacs under their skin" in document.markdown, document.markdown
        assert document.metadata.model_extra["sourceFile"] == name, document.metadata
    with path.open("rb") as open_file:
        assert "Gannets" in (await parse(open_file)).markdown
    # What a file is, is decided by its bytes.
    misnamed = await parse(PAGES, filename="letter.docx", content_type="application/msword")
    assert "first page" in misnamed.markdown, misnamed.markdown
    table = await parse(b"name;depth\ncellword;12\nother;13\n", filename="birds.csv")
    assert "cellword" in table.markdown and "|" in table.markdown, table.markdown


async def options(parse):
    page = await parse(
        HTML,
        filename="report.html",
        formats=["markdown", "html", "rawHtml", "links", "images", HighlightsFormat(query="how deep do they dive?")],
        only_main_content=False,
        timeout=60000,
        proxy="basic",
    )
    assert "navigationword" in page.markdown and "<table" in page.html and "<nav>" in page.raw_html
    assert "https://example.org/more" in page.links and page.highlights, page
    part = await parse(HTML, filename="report.html", include_tags=["table"], exclude_tags=["th"])
    assert "Cellword" in part.markdown and "metres" not in part.markdown, part.markdown
    hidden = await parse(HTML, filename="report.html", redact_pii=True)
    assert "diver@example.org" not in hidden.markdown and "metres" in hidden.markdown, hidden.markdown

    whole = await parse(PAGES, filename="birds.pdf")
    assert "first page" in whole.markdown and "third page" in whole.markdown, whole.markdown
    assert (whole.metadata.num_pages, whole.metadata.total_pages) == (3, 3), whole.metadata
    assert whole.metadata.credits_used == 3, whole.metadata
    parser = PDFParser(mode="fast", max_pages=2, pages=True, blocks=True, page_markers=True)
    first = await parse(PAGES, filename="birds.pdf", parsers=[parser])
    assert "second page" in first.markdown and "third page" not in first.markdown, first.markdown
    assert (first.metadata.num_pages, first.metadata.total_pages) == (2, 3), first.metadata
    assert first.metadata.credits_used == 2, first.metadata
    assert [page.page_number for page in first.pages] == [1, 2] and "puffins" in first.pages[1].markdown, first.pages
    for page in first.blocks:
        for block in page.items:
            if block.markdown_span:
                start, end = block.markdown_span
                assert first.markdown[start:end] == block.content, block


async def failures(parse):
    for name, file, given, kind, text in [
        ("program.exe", b"MZ\x90\x00\x03\x00\x00\x00" * 40, {}, errors.BadRequestError, "Unsupported file type"),
        ("report.html", HTML, {"headers": {"a": "b"}}, errors.BadRequestError, "do not support these options: headers"),
        ("report.html", HTML, {"timeout": 500}, errors.BadRequestError, "timeout"),
        ("empty.pdf", b"", {}, errors.FirecrawlError, "empty"),
    ]:
        try:
            await parse(file, filename=name, **given)
        except kind as error:
            text = text.replace("do not support", "does not support")
            assert text in str(error), (name, str(error))
        else:
            raise AssertionError(f"{name} was parsed")
    # The client refuses these by itself.
    for given in [
        {"actions": [WaitAction(milliseconds=5)]},
        {"wait_for": 5},
        {"location": Location(country="DE")},
        {"mobile": True},
        {"proxy": "stealth"},
        {"formats": ["screenshot"]},
    ]:
        try:
            await parse(HTML, filename="report.html", **given)
        except ValueError:
            pass
        else:
            raise AssertionError(f"{given} was accepted")


def check_formats(formats):
    by_name = {item.format: item for item in formats}
    assert by_name["pdf"].kind == "document" and by_name["pdf"].available, by_name["pdf"]
    assert "application/pdf" in by_name["pdf"].mime_types and by_name["pdf"].extensions == ["pdf"]
    assert by_name["png"].kind == "image", by_name["png"]


async def run_all(client_parse, client_formats):
    from firecrawl.v2.types import ParseOptions

    async def parse(file, filename=None, content_type=None, **given):
        chosen = ParseOptions(**given) if given else None
        return await client_parse(file, options=chosen, filename=filename, content_type=content_type)

    with tempfile.TemporaryDirectory() as folder:
        await inputs(parse, Path(folder))
    await options(parse)
    await failures(parse)
    check_formats(await client_formats())


def awaited(call):
    async def run(*given, **named):
        return call(*given, **named)

    return run


async def main():
    client = Firecrawl(api_key=key, api_url=url)
    await run_all(awaited(client.parse), awaited(client.get_parse_formats))
    other = AsyncFirecrawl(api_key=key, api_url=url)
    await run_all(other.parse, other.get_parse_formats)
    stranger = Firecrawl(api_key="gn-wrong", api_url=url)
    try:
        stranger.parse(HTML, filename="a.html")
    except errors.UnauthorizedError as error:
        assert "Invalid token" in str(error), error
    else:
        raise AssertionError("a wrong key was accepted")


asyncio.run(main())
print("all passed")
