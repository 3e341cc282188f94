"""Crawls a site and saves every page as a markdown file.

usage: python site_to_markdown.py URL FOLDER [LIMIT]
"""

import os
import re
import sys
from pathlib import Path

from firecrawl import Firecrawl

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
url, folder = sys.argv[1], Path(sys.argv[2])
limit = int(sys.argv[3]) if len(sys.argv) == 4 else 10

client = Firecrawl(api_key=os.environ["FIRECRAWL_API_KEY"], api_url=os.environ["FIRECRAWL_API_URL"])
job = client.crawl(url, limit=limit, poll_interval=1, timeout=600)
if job.status != "completed":
    sys.exit(f"the crawl ended as {job.status}")

folder.mkdir(parents=True, exist_ok=True)
for page in job.data:
    name = re.sub(r"[^A-Za-z0-9]+", "-", page.metadata.source_url.split("://", 1)[1]).strip("-")
    file = folder / f"{name[:150]}.md"
    file.write_text(f"# {page.metadata.title}\n\n{page.markdown}\n", encoding="utf-8")
    print(file)
