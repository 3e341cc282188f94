"""Follows the links of a site with scrapy, as fast as it can, and tells how many pages came in how many seconds."""
import json, logging, sys, time
from urllib.parse import urlparse

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

start = sys.argv[1]


class Follow(Spider):
    name = "follow"
    start_urls = [start]
    allowed_domains = [urlparse(start).hostname]
    links = LinkExtractor(deny=[r"/js/"])
    pages, first, last = 0, None, None

    async def start(self):
        Follow.first = time.perf_counter()
        yield Request(start)

    def parse(self, response):
        Follow.pages += 1
        Follow.last = time.perf_counter()
        for link in self.links.extract_links(response):
            yield response.follow(link)


logging.disable(logging.CRITICAL)
process = CrawlerProcess({
    "LOG_ENABLED": False, "CONCURRENT_REQUESTS": 32, "CONCURRENT_REQUESTS_PER_DOMAIN": 32, "ROBOTSTXT_OBEY": True,
    "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False, "DOWNLOAD_DELAY": 0,
})
process.crawl(Follow)
process.start()
print(json.dumps({"pages": Follow.pages, "seconds": Follow.last - Follow.first}))
