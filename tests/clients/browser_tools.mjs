// The unmodified command line client and the unmodified MCP server against browser sessions.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { API_KEY, API_URL, SITE_URL } = process.env;
const page = `${SITE_URL}/article`;
const folder = mkdtempSync(join(tmpdir(), "browser-tools-"));
const env = {
  PATH: process.env.PATH, HOME: folder, FIRECRAWL_API_URL: API_URL, FIRECRAWL_API_KEY: API_KEY,
  FIRECRAWL_NO_UPDATE_CHECK: "1", FIRECRAWL_NO_TELEMETRY: "1", FIRECRAWL_NO_ENDPOINT_FEEDBACK: "1", FIRECRAWL_NO_SEARCH_FEEDBACK: "1",
};
const packages = new URL("./node_modules/", import.meta.url).pathname;

const run = (...given) => new Promise(resolve => {
  const program = join(packages, "firecrawl-cli/dist/index.js");
  execFile(process.execPath, [program, ...given], { env, cwd: folder }, (error, stdout, stderr) => {
    resolve({ code: error?.code ?? 0, text: stdout, errors: stderr });
  });
});
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
const server = spawn(process.execPath, [join(packages, "firecrawl-mcp/dist/index.js")], { env, cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map();
createInterface({ input: server.stdout }).on("line", line => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
});
let last = 0;
const call = (method, params) => new Promise(resolve => {
  waiting.set(++last, resolve);
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
});
await call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "tests", version: "1" } });
server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
const tool = async (name, given) => {
  const { result } = await call("tools/call", { name, arguments: given });
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
server.kill();
rmSync(folder, { recursive: true });
console.log("all passed");
