"""The Python client of MCP with its OAuth provider: from a 401 to the result of a tool, and on with a renewed token. The
person's browser is played with the requests that the dashboard sends."""

import asyncio
import os
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

API_URL, SITE_URL, API_KEY = os.environ["API_URL"], os.environ["SITE_URL"], os.environ["API_KEY"]


class Storage:
    """Keeps tokens and the registration, as an application does between its runs."""

    tokens = None
    info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.info

    async def set_client_info(self, info):
        self.info = info


class Person:
    """Signs in to the dashboard and allows what is asked for."""

    asked = 0
    answer = None

    async def open(self, url):
        self.asked += 1
        async with httpx2.AsyncClient(base_url=API_URL, headers={"origin": API_URL}) as browser:
            led = await browser.get(url)
            assert led.status_code == 303, led.text
            view = led.headers["location"]
            assert view.startswith("/#/authorize?"), view
            request = {name: values[0] for name, values in parse_qs(view.split("?", 1)[1]).items()}
            refused = await browser.get("/admin/authorization", params=request)
            assert refused.status_code == 401, refused.text
            signed_in = await browser.post("/admin/sign-in", json={"key": API_KEY})
            assert signed_in.status_code == 200, signed_in.text
            shown = (await browser.get("/admin/authorization", params=request)).json()["data"]
            assert shown["clientName"] == "Python test" and shown["redirectHost"] == "127.0.0.1:49152", shown
            assert "scrape" in shown["scopes"] and "admin" not in shown["scopes"], shown
            foreign = await browser.post(
                "/admin/authorization",
                json={"request": request, "allow": True},
                headers={"origin": "https://evil.example"},
            )
            assert foreign.status_code == 403, foreign.text
            decided = await browser.post("/admin/authorization", json={"request": request, "allow": True})
            self.answer = parse_qs(urlsplit(decided.json()["data"]["redirectTo"]).query)

    async def come_back(self):
        return AuthorizationCodeResult(**{name: values[0] for name, values in self.answer.items()})


async def scrape(provider):
    async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
        async with Client(streamable_http_client(f"{API_URL}/mcp", http_client=http)) as client:
            scraped = await client.call_tool("firecrawl_scrape", {"url": f"{SITE_URL}/article"})
            assert not scraped.is_error and "firstword" in scraped.structured_content["markdown"], scraped


def provider_of(storage, person):
    metadata = OAuthClientMetadata(client_name="Python test", redirect_uris=["http://127.0.0.1:49152/callback"])
    return OAuthClientProvider(
        server_url=f"{API_URL}/mcp",
        client_metadata=metadata,
        storage=storage,
        redirect_handler=person.open,
        callback_handler=person.come_back,
    )


async def main():
    storage, person = Storage(), Person()
    provider = provider_of(storage, person)
    await scrape(provider)
    assert person.asked == 1 and storage.tokens.refresh_token and storage.tokens.expires_in == 3600, storage.tokens
    # The token expires: the client renews it without asking again.
    first = storage.tokens.access_token
    provider.context.token_expiry_time = 1
    await scrape(provider)
    assert person.asked == 1 and storage.tokens.access_token != first
    # Another run of the application goes on with what it kept.
    await scrape(provider_of(storage, person))
    assert person.asked == 1
    print("all passed")


asyncio.run(main())
