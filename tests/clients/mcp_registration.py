"""The Python client of MCP with its provider for identity assertions: from no key to the result of a tool, with each way
in which a client can authenticate itself. Assertions come from the test, one for each way."""

import asyncio
import os

import httpx2
from mcp import Client
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.streamable_http import streamable_http_client

API_URL, SITE_URL = os.environ["API_URL"], os.environ["SITE_URL"]
ASSERTIONS = os.environ["ASSERTIONS"].split()


class Storage:
    """Keeps nothing: each run begins without a token."""

    async def get_tokens(self):
        return None

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return None

    async def set_client_info(self, info):
        pass


async def main():
    asked = []
    for method, assertion in zip(("client_secret_post", "client_secret_basic"), ASSERTIONS, strict=True):

        async def issue(audience, resource, assertion=assertion):
            asked.append((audience, resource))
            return assertion

        provider = IdentityAssertionOAuthProvider(
            server_url=f"{API_URL}/mcp",
            storage=Storage(),
            client_id="test-agent",
            client_secret=os.environ["CLIENT_SECRET"],
            issuer=API_URL,
            assertion_provider=issue,
            token_endpoint_auth_method=method,
        )
        async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
            async with Client(streamable_http_client(f"{API_URL}/mcp", http_client=http)) as client:
                scraped = await client.call_tool("firecrawl_scrape", {"url": f"{SITE_URL}/article"})
                assert not scraped.is_error and "firstword" in scraped.structured_content["markdown"], scraped
    assert asked == [(API_URL, f"{API_URL}/mcp")] * 2, asked
    print("all passed")


asyncio.run(main())
