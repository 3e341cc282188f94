// Clients in JavaScript: `client` (2026-07-28 and before) and `sdk` (2025-11-25), over HTTP and over standard input and
// output: the tools are listed, and ours are called with progress, cancelling, long texts and resources.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { API_KEY, API_URL, env, folder, GANNET, ourServer, pause, post, SITE_URL as site, toolCall } from "./mcp_tools.mjs";

const page = `${site}/article`;
const info = { name: "tests", version: "1" };
const url = (query = "") => new URL(`${API_URL}/mcp${query}`);
const withKey = { requestInit: { headers: { authorization: `Bearer ${API_KEY}` } } };
const stdio = { command: GANNET, args: ["mcp"], env, cwd: folder, stderr: "ignore" };

// Both generations, both transports.
for (const [name, open] of [
  ["client over HTTP", () => [new NewClient(info, { versionNegotiation: { mode: "auto" } }), new NewHttp(url(), withKey)]],
  ["client over HTTP, legacy", () => [new NewClient(info, { versionNegotiation: { mode: "legacy" } }), new NewHttp(url("?tools=core"), withKey)]],
  ["client over stdio", () => [new NewClient(info, { versionNegotiation: { mode: "auto" } }), new NewStdio(stdio)]],
  ["sdk over HTTP", () => [new OldClient(info), new OldHttp(url(), withKey)]],
  ["sdk over stdio", () => [new OldClient(info), new OldStdio(stdio)]],
]) {
  const [client, transport] = open();
  await client.connect(transport);
  const { tools } = await client.listTools();
  const names = tools.map(tool => tool.name);
  const short = name.includes("legacy");
  assert.ok(short ? names.length < 12 : names.length > 30, `${name}: ${names}`);
  assert.equal(names.includes("firecrawl_parse"), name.includes("stdio"), `${name}: files only on this machine`);
  assert.ok(tools.every(tool => tool.description && tool.inputSchema.type === "object" && tool.annotations), name);
  const scraped = await client.callTool({ name: "firecrawl_scrape", arguments: { url: page } });
  assert.match(scraped.content[0].text, /firstword/, name);
  assert.match(scraped.structuredContent.markdown, /firstword/, name);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates.length, 1, name);
  const { resources } = await client.listResources();
  const uri = `gannet://scrape/${scraped.structuredContent.metadata.scrapeId}`;
  assert.ok(resources.some(one => one.uri === uri), name);
  const { contents } = await client.readResource({ uri });
  assert.match(contents[0].text, /firstword/, name);
  await client.close();
}

// Our own tools.
const ours = ourServer();
const opened = await ours.open("2025-06-18");
assert.equal(opened.protocolVersion, "2025-06-18");
assert.equal(opened.serverInfo.name, "gannet");
const call = async (name, given) => {
  const { result, error } = await ours.call(name, given);
  assert.ok(result && !result.isError, `${name}: ${JSON.stringify(error ?? result)}`);
  return result;
};
const data = await call("gannet_structured_data", {
  url: `${site}/product`, schema: { type: "object", properties: { title: { type: "string" }, price: { type: "number" } } },
});
assert.ok(data.structuredContent.json.title, JSON.stringify(data));
const session = (await call("gannet_browser_open", { url: page, ttl: 60 })).structuredContent;
assert.equal(session.opened, true, JSON.stringify(session));
const shown = await call("gannet_browser_command", { sessionId: session.id, command: "snapshot" });
assert.match(shown.content[0].text, /ref=e\d/);
const wrong = await ours.call("gannet_browser_command", { sessionId: session.id, command: "click @e9999" });
assert.equal(wrong.result.isError, true);
await call("gannet_browser_close", { sessionId: session.id });
const schema = { type: "object", properties: { title: { type: "string" } } };
const run = (await call("firecrawl_agent", { prompt: "the title", urls: [`${site}/product`], schema, strictConstrainToURLs: true, wait: true })).structuredContent;
assert.equal(run.status, "completed", JSON.stringify(run));
assert.equal(run.data.title, "Storm jacket");
assert.match((await call("gannet_agent_trace", { id: run.id })).content[0].text, /run.finished/);
const agentId = JSON.parse((await call("firecrawl_agent", { prompt: "x", urls: [page] })).content[0].text).id;
assert.match((await call("gannet_agent_trace", { id: agentId })).content[0].text, /events|trace/);

// A long text is read to its end, here and in another process.
const long = join(folder, "long.html");
const body = Array.from({ length: 400 }, (_, index) => `<p>Line ${index} of the long äöü page.</p>`).join("");
writeFileSync(long, `<html><body><main>${body}</main></body></html>`);
const whole = (await call("firecrawl_parse", { filePath: long, maxChars: 100000 })).content[0].text;
let part = await call("firecrawl_parse", { filePath: long, maxChars: 3000 });
assert.equal(part.structuredContent.truncated, true);
assert.match(part.structuredContent.data.metadata.scrapeId, /^[0-9a-f-]{36}$/, JSON.stringify(part.structuredContent));
assert.match(part.structuredContent.leftOut.join(), /markdown: \d+ characters/);
let text = part.content[0].text;
assert.equal([...text].length, 3000);
while (part._meta?.["gannet/cursor"]) {
  part = await call("gannet_continue", { cursor: part._meta["gannet/cursor"], maxChars: 3000 });
  text += part.content[0].text;
}
assert.equal(text.replace(/"scrapeId": "[^"]*"/, ""), whole.replace(/"scrapeId": "[^"]*"/, ""));
const cut = (await call("firecrawl_scrape", { url: page, formats: ["html", "rawHtml", "markdown"], maxChars: 1000 }));
const other = await (await post(toolCall("gannet_continue", { cursor: cut._meta["gannet/cursor"], maxChars: 1000 }))).json();
assert.ok(!other.result.isError, JSON.stringify(other));

// What the next call needs is never cut off.
const pages = await call("firecrawl_crawl", { url: page, limit: 1, maxChars: 1000 });
const begin = pages.content[0].text;
assert.match(begin, /"id": "[0-9a-f-]{36}",\s+"status": "completed",\s+"completed": 1,/, begin);
assert.deepEqual([pages.structuredContent.status, pages.structuredContent.total], ["completed", 1]);
assert.match((await call("firecrawl_check_crawl_status", { id: pages.structuredContent.id })).content[0].text, /completed/);

// Progress, and a crawl that ends with its call.
const progress = ours.call("firecrawl_crawl", { url: `${site}/slow`, limit: 1 }, { progressToken: "p1" });
assert.ok(!(await progress).result.isError);
const crawl = ours.call("firecrawl_crawl", { url: `${site}/hang`, limit: 1 }, { progressToken: "p2" });
await pause(800);
assert.ok(ours.notified.some(one => one.method === "notifications/progress" && one.params.progressToken === "p2"), JSON.stringify(ours.notified));
ours.notify("notifications/cancelled", { requestId: ours.last, reason: "enough" });
const active = async () => (await (await fetch(`${API_URL}/v2/crawl/active`, { headers: withKey.requestInit.headers })).json()).crawls;
for (let left = 50; left > 0 && (await active()).length > 0; left -= 1) await pause(100);
assert.deepEqual(await active(), [], "the crawl was cancelled");
void crawl;
// Over HTTP by closing the connection; the answer is a stream of events as soon as there is progress.
const stop = new AbortController();
const streamed = await post(toolCall("firecrawl_crawl", { url: `${site}/hang`, limit: 1 }, { progressToken: 7 }), { signal: stop.signal });
assert.match(streamed.headers.get("content-type"), /event-stream/);
assert.equal((await active()).length, 1);
stop.abort();
for (let left = 50; left > 0 && (await active()).length > 0; left -= 1) await pause(100);
assert.deepEqual(await active(), []);
assert.equal(await ours.close(), 0, ours.errors);
console.log("all passed");
