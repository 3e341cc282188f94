"""Parses responses about agent runs, one JSON object per line, with firecrawl-py's own models."""

import json
import sys

from firecrawl.v2.methods.agent import _normalize_agent_response_payload
from firecrawl.v2.types import AgentResponse, AgentSnapshotResponse, AgentTraceResponse

read = 0
for line in sys.stdin:
    answer = json.loads(line)
    if "events" in answer:
        trace = AgentTraceResponse(**answer)
        assert len(trace.events) == len(answer["events"]) and trace.id
        last = {}
        for event in trace.events:
            assert event.run_id == trace.id
            assert event.producer_sequence > last.get(event.agent.id, 0)
            last[event.agent.id] = event.producer_sequence
    elif "snapshot" in answer:
        assert AgentSnapshotResponse(**answer).snapshot is not None
    else:
        status = AgentResponse(**_normalize_agent_response_payload(answer))
        assert status.expires_at is not None and status.credits_used is not None and status.model
    read += 1
print(f"{read} read")
