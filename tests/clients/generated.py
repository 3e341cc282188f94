"""A client that openapi-python-client makes from the OpenAPI document of the running server, without a warning."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.request

API, KEY, SITE = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
folder = tempfile.TemporaryDirectory()
document = os.path.join(folder.name, "openapi.json")
urllib.request.urlretrieve(f"{API}/v2/openapi.json", document)
config = os.path.join(folder.name, "config.yml")
with open(config, "w") as file:
    file.write("post_hooks: []\n")  # formatting the client takes longer than making it
made = subprocess.run(
    [sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--config", config, "--meta", "none",
     "--output-path", os.path.join(folder.name, "gannet_client"), "--fail-on-warning"],
    capture_output=True, text=True)
assert made.returncode == 0 and "WARNING" not in made.stdout, made.stdout + made.stderr
sys.path.insert(0, folder.name)

from gannet_client import AuthenticatedClient  # noqa: E402
from gannet_client.api.batch import batch_download, batch_status, start_batch  # noqa: E402
from gannet_client.api.crawl import crawl_status, start_crawl  # noqa: E402
from gannet_client.api.map_ import map_  # noqa: E402
from gannet_client.api.scrape import scrape  # noqa: E402
from gannet_client.api.search import search  # noqa: E402
from gannet_client.models import (  # noqa: E402
    BatchRequest, CrawlRequest, BatchDownloadFormat, ErrorBody, FormatName, MapAnswer, MapRequest, ScrapeAnswer,
    ScrapeRequest, SearchAnswer, SearchRequest,
)

client = AuthenticatedClient(base_url=API, token=KEY)

formats = [FormatName.MARKDOWN, FormatName.LINKS]
page = scrape.sync(client=client, body=ScrapeRequest(url=f"{SITE}/article", formats=formats))
assert isinstance(page, ScrapeAnswer) and page.success, page
assert "gannet" in page.data.markdown.lower() and page.data.metadata["statusCode"] == 200, page.data

crawl = start_crawl.sync(client=client, body=CrawlRequest(url=f"{SITE}/article", limit=1))
status = crawl_status.sync(crawl.id, client=client)
batch = start_batch.sync(client=client, body=BatchRequest(urls=[f"{SITE}/article"]))
while (status := crawl_status.sync(crawl.id, client=client)).status == "scraping":
    time.sleep(0.1)
assert (status.status, status.completed, len(status.data)) == ("completed", 1, 1), status
while batch_status.sync(batch.id, client=client).status == "scraping":
    time.sleep(0.1)
lines = batch_download.sync(batch.id, client=client, format_=BatchDownloadFormat.JSONL).payload.read()
assert lines.count(b"\n") == 1 and b'"markdown"' in lines, lines

found = map_.sync(client=client, body=MapRequest(url=SITE))
assert isinstance(found, MapAnswer) and found.success and found.links, found
results = search.sync(client=client, body=SearchRequest(query="gannets diving"))
assert isinstance(results, SearchAnswer) and results.data.web[0].url == f"{SITE}/article", results

# Errors have a type of their own: with a status of their own, and where Firecrawl answers 200.
nowhere = scrape.sync_detailed(client=client, body=ScrapeRequest(url="http://no-such-host.invalid/"))
assert nowhere.status_code == 200 and isinstance(nowhere.parsed, ErrorBody), nowhere
assert nowhere.parsed.success is False and nowhere.parsed.code == "SCRAPE_DNS_RESOLUTION_ERROR", nowhere.parsed
wrong = scrape.sync_detailed(client=client, body=ScrapeRequest(url="not an address"))
assert wrong.status_code == 400 and isinstance(wrong.parsed, ErrorBody) and wrong.parsed.error, wrong
stranger = AuthenticatedClient(base_url=API, token="gn-wrong-0123456789abcdef")
refused = map_.sync_detailed(client=stranger, body=MapRequest(url=SITE))
assert refused.status_code == 401 and isinstance(refused.parsed, ErrorBody), refused
missing = crawl_status.sync("01a1eefe-d80e-73b2-8eb3-eda12affd007", client=client)
assert isinstance(missing, ErrorBody) and missing.success is False, missing
folder.cleanup()
print("all passed")
