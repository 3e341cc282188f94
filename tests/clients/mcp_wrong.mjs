// Wrong calls over HTTP: each is refused with an error that says why, and nothing hangs.

import assert from "node:assert/strict";
import http from "node:http";
import { API_KEY, API_URL, message, ourServer, post, toolCall } from "./mcp_tools.mjs";

let tried = 0;
const limited = (promise, what) => Promise.race([
  promise, new Promise((_, reject) => setTimeout(() => reject(new Error(`${what} hangs`)), 20000).unref()),
]);
/** The answer has this status, and is JSON. */
const refused = async (what, status, sent, options) => {
  const response = await limited(post(sent, options), what);
  const text = await response.text();
  tried += 1;
  assert.equal(response.status, status, `${what}: ${text}`);
  return { json: text ? JSON.parse(text) : null, response };
};
/** The call is a result that says what is wrong. */
const toolError = async (name, given, words, options) => {
  const { json } = await refused(`${name} ${JSON.stringify(given).slice(0, 80)}`, 200, toolCall(name, given), options);
  assert.equal(json.result?.isError, true, JSON.stringify(json).slice(0, 500));
  assert.match(json.result.content[0].text, words);
  assert.ok(json.result.structuredContent.code || json.result.structuredContent.error, JSON.stringify(json));
};
/** The call is an error of the protocol. */
const protocolError = async (what, sent, code, options) => {
  const { json } = await refused(what, 200, sent, options);
  assert.equal(json.error?.code, code, `${what}: ${JSON.stringify(json)}`);
};

// Tools and arguments.
await protocolError("unknown tool", toolCall("no_such_tool", {}), -32602);
await protocolError("a tool with a long name", toolCall("x".repeat(100000), {}), -32602);
await protocolError("a file over HTTP", toolCall("firecrawl_parse", { filePath: "/etc/passwd" }), -32602);
await protocolError("a tool outside of the profile", toolCall("firecrawl_monitor_list", {}), -32602, { path: "/mcp?tools=core" });
await protocolError("an unknown profile", message("tools/list"), -32602, { path: "/mcp?tools=nope" });
for (const [name, given, words] of [
  ["firecrawl_scrape", {}, /url is required/],
  ["firecrawl_scrape", { url: 5 }, /url must be a string/],
  ["firecrawl_scrape", { url: "" }, /at least 1/],
  ["firecrawl_scrape", { url: "x".repeat(9000) }, /at most 8192/],
  ["firecrawl_scrape", { url: "no address at all" }, /URL|url/],
  ["firecrawl_scrape", { url: "ftp://example.com/" }, /URL|protocol|http/i],
  ["firecrawl_scrape", { url: "http://127.0.0.1:1/", timeout: 3000 }, /./],
  ["firecrawl_scrape", { url: "http://169.254.169.254/latest" }, /./],
  ["firecrawl_scrape", { url: "http://x.test/", formats: "markdown" }, /formats must be a list/],
  ["firecrawl_scrape", { url: "http://x.test/", formats: ["nope"] }, /one of/],
  ["firecrawl_scrape", { url: "http://x.test/", nope: 1 }, /nope is not an argument/],
  ["firecrawl_scrape", { url: "http://x.test/", maxChars: 5 }, /at least 1000/],
  ["firecrawl_scrape", { url: "http://x.test/", maxChars: 1e9 }, /at most/],
  ["firecrawl_scrape", { url: "http://x.test/", alexandria: {} }, /together/],
  ["firecrawl_scrape", { url: "http://x.test/", requestId: "a\nb", alexandria: {} }, /./],
  ["firecrawl_scrape", { url: "http://x.test/", actions: [{}] }, /type is required/],
  ["firecrawl_scrape", { url: "http://x.test/", waitFor: -1 }, /at least 0/],
  ["firecrawl_map", { url: ["a"] }, /must be a string/],
  ["firecrawl_search", { query: "  " }, /./],
  ["firecrawl_search", { query: "x", limit: 0 }, /at least 1/],
  ["firecrawl_search", { query: "x", limit: 1.5 }, /whole number/],
  ["firecrawl_search", { query: "x", sources: ["sky"] }, /./],
  ["firecrawl_search", { query: "x".repeat(3000) }, /at most 2000/],
  ["firecrawl_find_tools", { level: "categories", query: "x" }, /categories/],
  ["firecrawl_crawl", { url: "http://x.test/", limit: "many" }, /number/],
  ["firecrawl_crawl", { url: "http://x.test/", includePaths: ["("] }, /./],
  ["firecrawl_check_crawl_status", { id: "nope" }, /job ID|id/i],
  ["firecrawl_check_crawl_status", { id: ".." }, /not an id/],
  ["firecrawl_check_crawl_status", { id: "../team/credit-usage" }, /job ID|id/i],
  ["firecrawl_check_crawl_status", { id: "019a0000-0000-7000-8000-000000000001" }, /not found/i],
  ["firecrawl_agent", { prompt: "" }, /at least 1/],
  ["firecrawl_agent", { prompt: "x", threadId: "nope" }, /./],
  ["firecrawl_agent_status", { id: "019a0000-0000-7000-8000-000000000001" }, /not found/i],
  ["firecrawl_interact", { url: "http://x.test/" }, /prompt or code/],
  ["firecrawl_interact", { url: "http://x.test/", scrapeId: "x", code: "1" }, /not both/],
  ["firecrawl_interact", { scrapeId: "x", scrapeOptions: {}, code: "1" }, /only be used with url/],
  ["firecrawl_interact_stop", { scrapeId: "019a0000-0000-7000-8000-000000000001" }, /./],
  ["firecrawl_monitor_create", { page: "http://x.test/" }, /goal is required/],
  ["firecrawl_monitor_create", { goal: "x" }, /required/],
  ["firecrawl_monitor_get", { id: "a/../../keys" }, /./],
  ["firecrawl_research_related_papers", { seed_ids: [], intent: "x" }, /at least 1/],
  ["firecrawl_credit_usage", { view: "current", byApiKey: true }, /byApiKey/],
  ["firecrawl_feedback", { endpoint: "scrape", rating: "good" }, /jobId/],
  ["firecrawl_extract", {}, /deprecated/],
  ["gannet_continue", { cursor: "nope" }, /cursor/],
  ["gannet_continue", { cursor: "00000000000000000000000000000000.5" }, /not kept/],
  ["gannet_browser_command", { sessionId: "019a0000-0000-7000-8000-000000000001", command: "snapshot" }, /./],
]) await toolError(name, given, words);
await toolError("gannet_structured_data", { url: "http://x.test/", schema: { text: "x".repeat(2_500_000) } }, /MiB/);

// Messages.
await refused("no JSON", 415, "{", { headers: { "content-type": "text/plain" } });
assert.ok([400, 415].includes((await limited(post("{ not json"), "bad JSON")).status));
assert.ok([400, 415].includes((await limited(post({ hello: 1 }), "no message")).status));
await refused("too large", 413, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${"y".repeat(5 << 20)}"}}`);
await refused("no stream accepted", 406, message("ping"), { headers: { accept: "application/json" } });
const unknown = await limited(post(message("no/such/method")), "unknown method");
assert.equal((await unknown.json()).error.code, -32601);
await protocolError("an unknown resource", message("resources/read", { uri: "file:///etc/passwd" }), -32002);
const get = await limited(fetch(`${API_URL}/mcp`, { headers: { authorization: `Bearer ${API_KEY}`, accept: "text/event-stream" } }), "GET");
assert.equal(get.status, 405);

// Keys.
const { response } = await refused("no key", 401, message("tools/list"), { key: null });
assert.match(response.headers.get("www-authenticate"), /^Bearer resource_metadata="http:\/\/.*\/\.well-known\/oauth-protected-resource"$/);
await refused("a wrong key", 401, message("tools/list"), { key: "gn-wrong-0123456789abcdef" });
await refused("a wrong key under /v2", 401, message("tools/list"), { key: "gn-wrong", path: "/v2/mcp" });
const made = await (await fetch(`${API_URL}/admin/keys`, {
  method: "POST", headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
  body: JSON.stringify({ name: "narrow", scopes: ["map"] }),
})).json();
const narrow = made.key;
assert.ok(narrow, JSON.stringify(made));
await toolError("firecrawl_scrape", { url: "http://x.test/" }, /./, { key: narrow });

// Foreign names and pages. `fetch` does not let a program choose Host, so this is sent by hand.
const raw = headers => new Promise((resolve, reject) => {
  const { hostname, port } = new URL(API_URL);
  const sent = http.request({
    hostname, port, path: "/mcp", method: "POST",
    headers: {
      authorization: `Bearer ${API_KEY}`, "content-type": "application/json",
      accept: "application/json, text/event-stream", ...headers,
    },
  }, answer => { answer.resume(); answer.on("end", () => resolve(answer.statusCode)); });
  sent.on("error", reject);
  sent.end(JSON.stringify(message("tools/list")));
});
tried += 4;
assert.equal(await limited(raw({ host: "evil.example" }), "foreign host"), 403);
assert.equal(await limited(raw({ origin: "https://evil.example" }), "foreign origin"), 403);
assert.equal(await limited(raw({ origin: "null" }), "no origin"), 403);
assert.equal(await limited(raw({ origin: API_URL }), "own origin"), 200);

// Over standard input and output: a line that is no message does not end the server.
const ours = ourServer(["--tools", "core"]);
ours.child.stdin.write("this is no JSON\n");
await ours.open();
ours.child.stdin.write("{\"jsonrpc\":\"2.0\"\n");
assert.equal((await limited(ours.call("no_such_tool", {}), "stdio")).error.code, -32602);
assert.equal((await limited(ours.call("firecrawl_credit_usage", {}), "stdio")).error.code, -32602, "outside of the profile");
const key = ourServer([], { FIRECRAWL_API_KEY: "gn-wrong" });
await key.open();
const unauthorized = await limited(key.call("firecrawl_map", { url: "http://x.test/" }), "wrong key");
assert.equal(unauthorized.result.structuredContent.status, 401);
const nobody = ourServer(["--server", "http://127.0.0.1:48017"]);
await nobody.open();
const unreachable = await limited(nobody.call("firecrawl_map", { url: "http://x.test/" }), "no server");
assert.match(unreachable.result.content[0].text, /no answer|running/);
tried += 4;
await Promise.all([ours.close(), key.close(), nobody.close()]);
assert.ok(tried >= 60, `${tried}`);
console.log(`${tried} wrong calls: all passed`);
