"""firecrawl-py, sync and async, against the usage endpoints: values, not only shapes."""

import asyncio
import os

from firecrawl import AsyncFirecrawl, Firecrawl

url, key = os.environ["API_URL"], os.environ["API_KEY"]


def check(credits, tokens, concurrency, queue):
    assert credits.remaining_credits == credits.plan_credits - 4, credits
    assert credits.billing_period_start.startswith("20"), credits
    assert tokens.remaining_tokens == tokens.plan_tokens, tokens
    assert concurrency.concurrency == 0 and concurrency.max_concurrency > 0, concurrency
    assert queue.jobs_in_queue == 0 and queue.most_recent_success is not None, queue


client = Firecrawl(api_key=key, api_url=url)
check(client.get_credit_usage(), client.get_token_usage(), client.get_concurrency(), client.get_queue_status())

inner = client._v2_client
history = inner.get_credit_usage_historical(by_api_key=True)
assert [(period.creditsUsed, period.apiKey) for period in history.periods] == [(4, "first")], history
assert inner.get_token_usage_historical().success


async def asynchronous():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    check(
        await client.get_credit_usage(),
        await client.get_token_usage(),
        await client.get_concurrency(),
        await client.get_queue_status(),
    )


asyncio.run(asynchronous())

try:
    Firecrawl(api_key="gn-wrong", api_url=url).get_credit_usage()
    raise SystemExit("a wrong key was accepted")
except Exception as error:
    assert type(error).__name__ == "UnauthorizedError", repr(error)
    assert "Unauthorized: Invalid token" in str(error), str(error)

print("all passed")
