// The unmodified command line client and the unmodified MCP server against browser sessions.

import assert from "node:assert/strict";
import { firecrawl as run, startMcp } from "./firecrawl_tools.mjs";

const page = `${process.env.SITE_URL}/article`;
const cli = async (...given) => {
  const { code, text, errors } = await run(...given);
  assert.equal(code, 0, `${given.join(" ")}: ${text}${errors}`);
  return text.trim();
};

// firecrawl browser
assert.match(await cli("browser", "launch-session", "--ttl", "120"), /ws:\S+token=/);
await cli("browser", "execute", `open ${page}`);
assert.ok((await cli("browser", "execute", "get url")).includes(page));
assert.match(await cli("browser", "execute", "snapshot"), /ref=e\d/);
assert.ok((await cli("browser", "execute", "--node", "page.url()")).includes(page));
assert.ok((await cli("browser", "execute", "--python", "print(page.url)")).includes(page));
assert.ok((await cli("browser", "execute", "--bash", "agent-browser get url")).includes(page));
assert.match(await cli("browser", "execute", "--help"), /open|Usage/);
assert.match(await cli("browser", "list", "active"), /active/i);
await cli("browser", "close");
assert.doesNotMatch(await cli("browser", "list", "active", "--json"), /"status": "active"/);
assert.ok((await cli("browser", `open ${page}`)).length > 0, "the short form begins a session");
assert.ok((await cli("browser", "get url")).includes(page), "and uses it again");
await cli("browser", "close");

// firecrawl interact
await cli("scrape", page);
assert.ok((await cli("interact", "-c", "page.url()")).includes(page));
assert.ok((await cli("interact", "-c", "print(page.url)", "--python")).includes(page));
assert.match(await cli("interact", "-c", "snapshot", "--bash"), /ref=e\d/);
assert.ok((await cli("interact", "scroll down")).length > 0);
const unclear = await run("interact", "plan my next holiday");
assert.match(unclear.errors + unclear.text, /model/);
await cli("interact", "stop");

// firecrawl_interact and firecrawl_interact_stop, over standard input and output.
const mcp = await startMcp();
const tool = async (name, given) => {
  const result = await mcp.call(name, given);
  assert.ok(result && !result.isError, JSON.stringify(result));
  return JSON.parse(result.content[0].text);
};
const opened = await tool("firecrawl_interact", { url: page, code: "page.url()", language: "node", timeout: 100 });
assert.equal(opened.result, page, JSON.stringify(opened));
const { scrapeId } = opened;
assert.equal((await tool("firecrawl_interact", { scrapeId, code: "print(page.url)", language: "python", timeout: 100 })).stdout.trim(), page);
assert.equal((await tool("firecrawl_interact", { scrapeId, code: "get url", language: "bash" })).stdout.trim(), page);
assert.ok((await tool("firecrawl_interact", { scrapeId, prompt: "scroll down" })).output);
assert.equal((await tool("firecrawl_interact_stop", { scrapeId })).success, true);
mcp.stop();
console.log("all passed");
