// firecrawl-js against browser sessions: begin, run code, list, end; go on with a scrape by code and prompt.

import assert from "node:assert/strict";
import Firecrawl from "@mendable/firecrawl-js";

const { API_KEY, API_URL, SITE_URL } = process.env;
const page = `${SITE_URL}/article`;
const client = new Firecrawl({ apiKey: API_KEY, apiUrl: API_URL });
const session = await client.browser({ ttl: 120, activityTtl: 60 });
assert.ok(session.success && session.id && session.cdpUrl.startsWith("ws://"), JSON.stringify(session));
const listed = await client.listBrowsers({ status: "active" });
assert.deepEqual(listed.sessions.map(one => one.id), [session.id]);
for (const [language, code, wanted] of [
  ["node", `await page.goto('${page}'); page.url()`, page],
  ["python", "print(page.url)", page],
  ["bash", "agent-browser get url", page],
  ["bash", "get count h1", "1"],
]) {
  const answer = await client.browserExecute(session.id, { code, language, timeout: 100 });
  assert.ok(answer.success && answer.exitCode === 0 && answer.result.includes(wanted), JSON.stringify(answer));
}
const failed = await client.browserExecute(session.id, { code: "throw new Error('no fish')", language: "node" });
assert.ok(failed.success && failed.exitCode === 1 && failed.stderr.includes("no fish"), JSON.stringify(failed));

const ended = await client.deleteBrowser(session.id);
assert.ok(ended.success && ended.sessionDurationMs > 0, JSON.stringify(ended));
assert.equal(ended.creditsBilled, 2);
const after = await client.listBrowsers({ status: "destroyed" });
assert.deepEqual(after.sessions.map(one => [one.id, one.destroyedReason]), [[session.id, "deleted"]]);

const scraped = await client.scrape(page, { formats: ["markdown"] });
const job = scraped.metadata.scrapeId;
for (const [language, code] of [["node", "page.url()"], ["python", "page.url"], ["bash", "get url"]]) {
  const answer = await client.interact(job, { code, language, timeout: 100 });
  assert.deepEqual([answer.success, answer.result.trim()], [true, page], JSON.stringify(answer));
}
const prompted = await client.interact(job, { prompt: "scroll down", timeout: 100 });
assert.ok(prompted.success && prompted.output && prompted.interactiveLiveViewUrl, JSON.stringify(prompted));
const wrong = await client.interact(job, { code: "throw new Error('no fish')", language: "node" });
assert.ok(!wrong.success && wrong.exitCode === 1, JSON.stringify(wrong));
assert.ok((await client.stopInteraction(job)).success);
console.log("all passed");
