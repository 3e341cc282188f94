"""The Python client of MCP, in both generations of the protocol, over HTTP and over standard input and output."""

import asyncio
import os

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

API_URL, API_KEY, SITE_URL = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
PAGE = f"{SITE_URL}/article"


def over_stdio():
    env = {"FIRECRAWL_API_URL": API_URL, "FIRECRAWL_API_KEY": API_KEY, "HOME": os.environ["WORK_DIR"]}
    return StdioServerParameters(command=os.environ["GANNET"], args=["mcp"], env=env)


async def check(client, expected_version):
    assert client.protocol_version == expected_version, client.protocol_version
    assert client.server_info.name == "gannet", client.server_info
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert len(tools) > 30, sorted(tools)
    assert tools["firecrawl_credit_usage"].output_schema, "short answers have a schema"
    scraped = await client.call_tool("firecrawl_scrape", {"url": PAGE})
    assert not scraped.is_error and "firstword" in scraped.structured_content["markdown"], scraped
    mapped = await client.call_tool("firecrawl_map", {"url": SITE_URL})
    assert mapped.structured_content["links"], mapped
    credits = await client.call_tool("firecrawl_credit_usage", {})
    assert credits.structured_content["planCredits"] == 1_000_000_000, credits
    wrong = await client.call_tool("firecrawl_scrape", {"url": 5})
    assert wrong.is_error, wrong
    try:
        await client.call_tool("no_such_tool", {})
        raise AssertionError("an unknown tool was called")
    except MCPError:
        pass
    identifier = scraped.structured_content["metadata"]["scrapeId"]
    read = await client.read_resource(f"gannet://scrape/{identifier}")
    assert "firstword" in read.contents[0].text, read


async def main():
    for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
        headers = {"Authorization": f"Bearer {API_KEY}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            async with Client(streamable_http_client(f"{API_URL}/mcp", http_client=http), mode=mode) as client:
                await check(client, version)
        async with Client(over_stdio(), mode=mode) as client:
            await check(client, version)
    print("all passed")


asyncio.run(main())
