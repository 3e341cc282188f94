// firecrawl-js against browser sessions: begin, list, end.

import assert from "node:assert/strict";
import Firecrawl from "@mendable/firecrawl-js";

const client = new Firecrawl({ apiKey: process.env.API_KEY, apiUrl: process.env.API_URL });
const session = await client.browser({ ttl: 120, activityTtl: 60 });
assert.ok(session.success && session.id && session.cdpUrl.startsWith("ws://"), JSON.stringify(session));
const listed = await client.listBrowsers({ status: "active" });
assert.deepEqual(listed.sessions.map(one => one.id), [session.id]);
const ended = await client.deleteBrowser(session.id);
assert.ok(ended.success && ended.sessionDurationMs > 0, JSON.stringify(ended));
assert.equal(ended.creditsBilled, 2);
const after = await client.listBrowsers({ status: "destroyed" });
assert.deepEqual(after.sessions.map(one => [one.id, one.destroyedReason]), [[session.id, "deleted"]]);
console.log("all passed");
