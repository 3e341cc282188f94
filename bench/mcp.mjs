// What a call of a tool costs above the route it uses: CPU time of the server for the same question over `/v2` and over
// `/mcp`, over one kept connection each.
//
//     node bench/mcp.mjs GANNET [CALLS]        (Node 20 or later, Linux)

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

const KEY = "gn-bench-0123456789abcdef";
const GOAL_MS = 1;
/** Clock ticks of a second in /proc; the same on every Linux that runs here. */
const TICKS = 100;
const [binary = "target/release/gannet", calls = "3000"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "bench-mcp-"));
const env = { PATH: process.env.PATH, HOME: folder, GANNET_API_KEY: KEY, GANNET_RESEARCH_STARTER: "off", GANNET_BROWSER: "none" };
const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", join(folder, "data")], { env, stdio: ["ignore", "pipe", "ignore"] });
const address = await new Promise(done => createInterface({ input: server.stdout }).on("line", line => {
  const found = /listening\s+(\S+)/.exec(line);
  if (found) done(found[1]);
}));

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const send = (path, body) => new Promise((done, failed) => {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const sent = request(address + path, { agent, method: body ? "POST" : "GET", headers }, answer => {
    let text = "";
    answer.on("data", piece => { text += piece; });
    answer.on("end", () => (answer.statusCode === 200 ? done(text) : failed(new Error(`${path}: ${answer.statusCode} ${text}`))));
  });
  sent.on("error", failed);
  sent.end(body && JSON.stringify(body));
});
/** User and system time of the server so far, in milliseconds. */
const cpu = () => {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ").pop().split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 1000 / TICKS;
};
const measure = async once => {
  for (let warm = 0; warm < 200; warm += 1) await once(warm);
  const before = cpu();
  for (let call = 0; call < Number(calls); call += 1) await once(call);
  return (cpu() - before) / Number(calls);
};

const tool = { name: "firecrawl_credit_usage", arguments: {} };
const route = await measure(() => send("/v2/team/credit-usage"));
const overMcp = await measure(id => send("/mcp", { jsonrpc: "2.0", id, method: "tools/call", params: tool }));
const list = await measure(id => send("/mcp", { jsonrpc: "2.0", id, method: "tools/list" }));
const show = ms => `${ms.toFixed(3)} ms CPU`;
console.log(`route                     ${show(route)}`);
console.log(`tool over /mcp            ${show(overMcp)}`);
console.log(`above the route           ${show(overMcp - route)} (goal: at most ${GOAL_MS} ms)`);
console.log(`list of all tools         ${show(list)}`);
agent.destroy();
server.kill();
rmSync(folder, { recursive: true });
process.exit(overMcp - route <= GOAL_MS ? 0 : 1);
