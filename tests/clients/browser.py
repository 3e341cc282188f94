"""firecrawl-py against browser sessions: begin, list, use, end."""

import os

from firecrawl import Firecrawl

url, key, site = os.environ["API_URL"], os.environ["API_KEY"], os.environ["SITE_URL"]
client = Firecrawl(api_key=key, api_url=url)

session = client.browser(ttl=120, activity_ttl=60, stream_web_view=True)
assert session.success and session.id, session
assert session.cdp_url.startswith("ws://") and session.id in session.cdp_url, session
assert session.live_view_url != session.interactive_live_view_url, session

listed = client.list_browsers(status="active")
assert [one.id for one in listed.sessions] == [session.id], listed
assert listed.sessions[0].status == "active" and listed.sessions[0].stream_web_view is True, listed

ended = client.delete_browser(session.id)
assert ended.success and ended.session_duration_ms > 0 and ended.credits_billed == 2, ended
assert client.list_browsers(status="active").sessions == []
assert [one.status for one in client.list_browsers().sessions] == ["destroyed"]

try:
    client.delete_browser(session.id)
    raise SystemExit("a session was ended twice")
except Exception as error:
    assert "destroyed" in str(error), str(error)

print("all passed")
