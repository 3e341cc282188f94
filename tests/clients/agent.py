"""firecrawl-py, sync and async, against a server without a model: every method for agent runs and extracts, with assertions on content."""

import asyncio
import json
import os
import time
import uuid

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import AgentExchangeOptions, AgentWebhookConfig, AuditMetadata, ThreatProtectionOptions
from pydantic import BaseModel

url, key, site = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
client = Firecrawl(api_key=key, api_url=url)
stranger = Firecrawl(api_key=os.environ["OTHER_KEY"], api_url=url)
FACTS = {"founded": 1987, "employees": 42}


class Company(BaseModel):
    founded: int
    employees: int


def refused(call, *words):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        assert all(word in str(error) for word in words), error
        return
    raise SystemExit(f"not refused: {words}")


def completed(run):
    assert run.success and run.status == "completed" and run.data == FACTS, run
    assert run.error is None and run.partial is None and run.credits_used >= 1, run
    assert run.expires_at is not None and run.mode == "extract" and run.thread_turn >= 1 and run.model, run


def traced(trace, run):
    assert trace.success and trace.id == run
    kinds = [event.type for event in trace.events]
    assert kinds[0] == "run.started" and kinds[-1] == "run.finished", kinds
    assert trace.events[-1].outcome == "succeeded" and trace.events[-1].error is None
    assert "tool_call.started" in kinds and "progress.reported" in kinds, kinds
    return [event.artifact for event in trace.events if event.type == "artifact.updated"]


# Agent runs.
started = client.start_agent(
    [f"{site}/company"], prompt="When was it founded, how many employees?", schema=Company, max_credits=50,
    strict_constrain_to_urls=True, model="spark-2", effort="low", integration="tests",
    webhook=AgentWebhookConfig(url="https://hooks.test/agent", events=["completed"]),
    threat_protection=ThreatProtectionOptions(blacklist=["evil.test"]), audit_metadata=AuditMetadata(username="ann"),
    mode="extract", exchange=AgentExchangeOptions(enabled=False), location={"country": "DE"}, zero_data_retention=False,
)
assert started.success and started.id and started.thread_id and started.thread_turn == 1, started
while (run := client.get_agent_status(started.id)).status == "processing":
    time.sleep(0.1)
completed(run)
assert run.effort == "low" and run.thread_id == started.thread_id

completed(client.agent([f"{site}/company"], prompt="When was it founded, how many employees?", schema=Company.model_json_schema(), poll_interval=1, timeout=60))
artifacts = traced(client.get_agent_trace(started.id), started.id)
assert artifacts and artifacts[-1].artifact_id == "result" and artifacts[-1].kind == "json", artifacts
snapshot = client.get_agent_snapshot(started.id, artifacts[-1].snapshot_id)
assert snapshot.success and json.loads(snapshot.snapshot) == FACTS, snapshot

# Threads.
second = client.start_agent(prompt="Once more: founded, employees?", thread_id=started.thread_id)
assert second.thread_id == started.thread_id and second.thread_turn == 2, second
while (run := client.get_agent_status(second.id)).status == "processing":
    time.sleep(0.1)
completed(run)
thread = client.get_agent_thread(started.thread_id, include_data=True).thread
assert thread.status == "idle" and [one.turn for one in thread.runs] == [1, 2] and thread.runs[1].data == FACTS, thread
assert client.get_agent_thread(started.thread_id).thread.runs[1].data is None

chat = client.agent([f"{site}/company"], prompt="When was Gannet Feeders founded?", mode="chat", poll_interval=1)
assert chat.status == "completed" and chat.mode == "chat" and chat.data is None and chat.message, chat

# Cancelling, and errors.
hanging = client.start_agent([f"{site}/hang/1"], prompt="What is there?")
refused(lambda: client.start_agent(prompt="and?", thread_id=hanging.thread_id), "unfinished")
live = client.get_agent_trace(hanging.id, live_view=True)
assert live.events[0].type == "run.started" and live.active_browser_sessions in (None, []), live
assert client.cancel_agent(hanging.id) is True
while (run := client.get_agent_status(hanging.id)).status == "processing":
    time.sleep(0.1)
assert run.status == "failed" and "cancelled" in run.error and run.credits_used == 0 and run.data is None, run
refused(lambda: client.cancel_agent(hanging.id), "Agent already finished")
end = client.get_agent_trace(hanging.id).events[-1]
assert end.type == "run.finished" and end.outcome == "cancelled" and end.error.code == "cancelled" and not end.error.retryable

limited = client.agent([f"{site}/walk/1"], prompt="Founded? Employees?", schema=Company, max_credits=1, poll_interval=1)
assert limited.status == "failed" and "credit limit" in limited.error and limited.credits_used == 0, limited
assert limited.stop_reason == "credit_limit_reached" and limited.data is None

refused(lambda: client.get_agent_status("x"), "Invalid job ID format. Job ID must be a valid UUID.")
refused(lambda: client.get_agent_status(str(uuid.uuid4())), "Agent job not found")
refused(lambda: stranger.get_agent_status(started.id), "Agent job not found")
refused(lambda: client.get_agent_snapshot(started.id, "x"), "Invalid snapshot ID")
refused(lambda: client.get_agent_snapshot(started.id, str(uuid.uuid4())), "Snapshot not found")
refused(lambda: client.get_agent_thread(str(uuid.uuid4())), "Thread not found")
refused(lambda: client.start_agent(prompt="x", schema={"type": "nothing"}), "Invalid JSON schema: ")
refused(lambda: client.start_agent(prompt="x", exchange={"enabled": True}), "exchange.enabled")

# The list.
agents = client.list_agents()
assert agents.success and agents.next is None, agents
assert [one.id for one in agents.agents][-1] == started.id and len(agents.agents) == 6, agents
first = agents.agents[-1]
assert first.status == "completed" and first.target_hint == f"{site}/company" and first.integration == "tests", first
assert first.origin.startswith("python-sdk") and first.options.effort == "low" and first.options.schema, first
assert client.list_agents(before=1).agents == []
assert stranger.list_agents().agents == []

# Extractions.
extract = client.extract([f"{site}/company"], prompt="Founded and employees", schema=Company.model_json_schema(), show_sources=True, poll_interval=1, timeout=60)
assert extract.success and extract.status == "completed" and extract.data == FACTS, extract
begun = client.start_extract([f"{site}/company"], schema=Company.model_json_schema())
while (extract := client.get_extract_status(begun.id)).status == "processing":
    time.sleep(0.1)
assert extract.data == FACTS, extract


async def again():
    client = AsyncFirecrawl(api_key=key, api_url=url)
    run = await client.agent([f"{site}/company"], prompt="When was it founded, how many employees?", schema=Company, poll_interval=1)
    completed(run)
    started = await client.start_agent([f"{site}/company"], prompt="When was it founded, how many employees?", schema=Company)
    while (await client.get_agent_status(started.id)).status == "processing":
        await asyncio.sleep(0.1)
    artifacts = traced(await client.get_agent_trace(started.id), started.id)
    snapshot = await client.get_agent_snapshot(started.id, artifacts[-1].snapshot_id)
    assert json.loads(snapshot.snapshot) == FACTS
    # get_agent_thread and list_agents of the async client fail on every response: they use an attribute that requests has and httpx has not.
    hanging = await client.start_agent([f"{site}/hang/2"], prompt="What is there?")
    assert await client.cancel_agent(hanging.id) is True


asyncio.run(again())
print("all passed")
