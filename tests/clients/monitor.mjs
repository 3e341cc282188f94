// firecrawl-js against monitors: all eight methods; then the command line client and the MCP server.

import assert from "node:assert/strict";
import Firecrawl from "@mendable/firecrawl-js";
import { firecrawl, startMcp } from "./firecrawl_tools.mjs";

const { API_KEY: apiKey, API_URL: apiUrl, SITE_URL: site } = process.env;
const client = new Firecrawl({ apiKey, apiUrl });
const setContent = content => fetch(`${site}/content`, { method: "POST", body: content });
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const request = {
  name: "Chair", schedule: { text: "hourly" }, targets: [{ type: "scrape", urls: [`${site}/chair`] }],
  goal: "the price", webhook: { url: "https://hooks.example/", events: ["monitor.page"] },
};

await setContent("<p>Price: 80 EUR</p>");
const monitor = await client.createMonitor(request);
assert.equal(monitor.webhook.url, "https://hooks.example/");
assert.equal((await client.getMonitor(monitor.id)).name, "Chair");
assert.deepEqual((await client.listMonitors({ limit: 5 })).map(one => one.id), [monitor.id]);
const runToEnd = async () => {
  let check = await client.runMonitor(monitor.id);
  while (["queued", "running"].includes(check.status)) {
    await pause(200);
    check = await client.getMonitorCheck(monitor.id, check.id, { limit: 10 });
  }
  return check;
};
assert.equal((await runToEnd()).summary.new, 1);
await setContent("<p>Price: 45 EUR</p>");
const changed = await runToEnd();
assert.match(changed.pages[0].diff.text, /\+Price: 45 EUR/);
assert.ok(Array.isArray(changed.pages[0].diff.json.files));
assert.equal((await client.listMonitorChecks(monitor.id, { limit: 10 })).length, 2);
const cleared = await client.updateMonitor(monitor.id, { webhook: null, goal: null });
assert.equal(cleared.webhook ?? null, null);
assert.equal(cleared.goal ?? null, null);
assert.equal(await client.deleteMonitor(monitor.id), true);
await assert.rejects(client.getMonitor(monitor.id), /Monitor not found/);

// firecrawl monitor
const cli = async (...given) => {
  const { code, text, errors } = await firecrawl("monitor", ...given);
  assert.equal(code, 0, `${given}: ${text}${errors}`);
  return text;
};
const json = async (...given) => JSON.parse(await cli(...given)).data;
const made = await json("create", "--name", "Cli", "--schedule", "every 30 minutes", "--page", `${site}/chair`, "--goal", "price", "--retention-days", "3");
assert.deepEqual((await json("list")).map(one => one.id), [made.id]);
assert.equal((await json("get", made.id)).retentionDays, 3);
let check = await json("run", made.id);
while (["queued", "running"].includes(check.status)) {
  await pause(200);
  check = await json("check", made.id, check.id);
}
assert.equal(check.pages[0].status, "new");
assert.equal((await json("checks", made.id)).length, 1);
assert.equal((await json("update", made.id, "--state", "paused")).status, "paused");
await cli("delete", made.id);
assert.deepEqual(await json("list"), []);

// The monitor tools of the MCP server.
const mcp = await startMcp();
const tool = async (name, given) => {
  const result = await mcp.call(`firecrawl_monitor_${name}`, given);
  assert.ok(result && !result.isError, `${name}: ${JSON.stringify(result)}`);
  const parsed = JSON.parse(result.content[0].text);
  return parsed.data ?? parsed;
};
const watched = await tool("create", { page: `${site}/chair`, goal: "the price" });
assert.ok((await tool("list", {})).some(one => one.id === watched.id));
assert.equal((await tool("get", { id: watched.id })).id, watched.id);
let ran = await tool("run", { id: watched.id });
while (["queued", "running"].includes(ran.status)) {
  await pause(200);
  ran = await tool("check", { id: watched.id, checkId: ran.id });
}
assert.equal(ran.status, "completed");
assert.equal((await tool("checks", { id: watched.id })).length, 1);
assert.equal((await tool("update", { id: watched.id, body: { status: "paused" } })).status, "paused");
await tool("delete", { id: watched.id });
mcp.stop();
console.log("all passed");
