// Browser sessions in one run: how long a session, a first and a later call of code and a snapshot take, the protocol through
// us against a pipe of our own to the same Chromium and against Chromium's own WebSocket (the same work for the client, no relay
// at all), the live view, and memory beside that of a plain Chromium.
//
//     node bench/interact.mjs GANNET        (Node 22; packages in GANNET_TEST_NODE_DIR)

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

const KEY = "gn-bench-0123456789abcdef";
const MORE_SESSIONS = 3;
const [binary = "target/release/gannet"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "bench-interact-"));
const pause = ms => new Promise(done => setTimeout(done, ms));
const median = values => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const report = (what, text, goal) => console.log(`${what.padEnd(26)}${text}${goal ? ` (goal: ${goal})` : ""}`);

const page = `<!doctype html><title>Shop</title><h1>Shop</h1><canvas id=c width=600 height=300></canvas>
  ${"<p>A bird <a href=/>and a link</a> <button>Buy</button></p>".repeat(40)}<script>const g = c.getContext("2d"); let at = 0;
  (function draw() { g.fillStyle = "hsl(" + at + " 80% 50%)"; g.fillRect(at++ % 600, 0, 40, 300); requestAnimationFrame(draw); })()</script>`;
const site = createServer((_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end(page));
await new Promise(done => site.listen(0, "127.0.0.1", done));
const url = `http://127.0.0.1:${site.address().port}/`;

/** Memory of a process and all below it, shared parts divided among those that share them, in MB. */
function memoryMb(root) {
  const parents = new Map();
  for (const pid of readdirSync("/proc").filter(name => /^\d+$/.test(name))) {
    try { parents.set(Number(pid), Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop().split(" ")[1])); } catch {}
  }
  const tree = [root];
  for (const parent of tree) for (const [pid, of] of parents) if (of === parent) tree.push(pid);
  const pss = pid => { try { return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]); } catch { return 0; } };
  return tree.reduce((sum, pid) => sum + pss(pid), 0) / 1024;
}

/** Sends commands by `write`, receives messages by the function it gives. */
function protocol(write) {
  const waiting = new Map();
  let next = 0;
  const receive = text => { const message = JSON.parse(text); waiting.get(message.id)?.(message); waiting.delete(message.id); };
  const call = (method, params = {}, sessionId = undefined) => new Promise((done, failed) => {
    waiting.set(++next, ({ result, error }) => error ? failed(new Error(`${method}: ${error.message}`)) : done(result));
    write(JSON.stringify({ id: next, method, params, sessionId }));
  });
  return { call, receive };
}

async function attach(call) {
  const { targetInfos } = await call("Target.getTargets");
  const { sessionId } = await call("Target.attachToTarget", { targetId: targetInfos.find(one => one.type === "page").targetId, flatten: true });
  await call("Page.navigate", { url }, sessionId);
  await pause(1000);
  return sessionId;
}

async function evaluate(call, sessionId, times) {
  const began = performance.now();
  for (let round = 0; round < times; round++) await call("Runtime.evaluate", { expression: "1 + 1", returnByValue: true }, sessionId);
  return performance.now() - began;
}

/** A client over a WebSocket. */
async function connect(address) {
  const socket = new WebSocket(address);
  await new Promise(done => { socket.onopen = done; });
  const client = protocol(text => socket.send(text));
  socket.onmessage = ({ data }) => client.receive(data);
  return client;
}

// Two Chromiums of ours, one over a pipe and one over its own WebSocket.
const start = (name, way, stdio) => spawn(process.env.CHROMIUM ?? "chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", way, "--no-first-run",
  "--site-per-process", `--user-data-dir=${join(folder, name)}`, "about:blank"], { stdio });
const plain = start("plain", "--remote-debugging-pipe", ["ignore", "ignore", "ignore", "pipe", "pipe"]);
const listening = start("listening", "--remote-debugging-port=0", ["ignore", "ignore", "pipe"]);
const listeningAt = new Promise(done => createInterface({ input: listening.stderr }).on("line", line => { const found = /listening on (ws\S+)/.exec(line); if (found) done(found[1]); }));
const pipe = protocol(text => plain.stdio[3].write(`${text}\0`));
let rest = "";
plain.stdio[4].on("data", data => { const parts = (rest + data).split("\0"); rest = parts.pop(); parts.forEach(pipe.receive); });

const env = { PATH: process.env.PATH, HOME: folder, GANNET_API_KEY: KEY, GANNET_EGRESS_ALLOW: "scrape=127.0.0.0/8", GANNET_INTERACT_USER: "same", GANNET_RESEARCH_STARTER: "off" };
if (process.env.GANNET_TEST_NODE_DIR) env.GANNET_INTERACT_NODE_MODULES = join(process.env.GANNET_TEST_NODE_DIR, "node_modules");
const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", join(folder, "data")], { env, stdio: ["ignore", "pipe", "ignore"] });
const base = await new Promise(done => createInterface({ input: server.stdout }).on("line", line => { const found = /listening\s+(\S+)/.exec(line); if (found) done(found[1]); }));
const ask = async (method, path, body) => {
  const response = await fetch(base + path, { method, headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  const json = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(json));
  return json;
};
const timed = async work => { const began = performance.now(); await work(); return performance.now() - began; };

try {
  while ((await fetch(`${base}/ready`)).status !== 200) await pause(20);
  const creations = [];
  for (let round = 0; round < 9; round++) {
    let session;
    creations.push(await timed(async () => { session = await ask("POST", "/v2/browser", {}); }));
    await ask("DELETE", `/v2/browser/${session.id}`);
    await pause(500);
  }
  report("create", `median ${median(creations).toFixed(0)} ms, worst ${creations.at(-1).toFixed(0)} ms`, "1000 ms");

  const session = await ask("POST", "/v2/browser", {});
  const execute = (language, code) => ask("POST", `/v2/browser/${session.id}/execute`, { language, code, timeout: 60 });
  const several = async (language, code) => { const times = []; for (let round = 0; round < 15; round++) times.push(await timed(() => execute(language, code))); return median(times).toFixed(0); };
  await execute("bash", `open ${url}`);
  const cold = await timed(() => execute("node", "await page.title()"));
  report("code in Node", `first call ${cold.toFixed(0)} ms, later ${await several("node", "await page.title()")} ms`, "1200 ms, 150 ms");
  report("snapshot in bash", `${await several("bash", "snapshot -i")} ms`, "400 ms");

  const clients = [await connect(session.cdpUrl), pipe, await connect(await listeningAt)];
  const pages = [];
  for (const client of clients) pages.push(await attach(client.call));
  const times = clients.map(() => []);
  for (let round = 0; round < 5; round++) {
    for (const [at, client] of clients.entries()) times[at].push(await evaluate(client.call, pages[at], 1000));
  }
  const [through, alone, socket] = times.map(median);
  report("1,000 evaluations", `${through.toFixed(0)} ms through us, ${alone.toFixed(0)} ms over a pipe, ratio ${(through / alone).toFixed(2)}`, "1.30");
  report("", `${socket.toFixed(0)} ms over Chromium's own WebSocket, ratio ${(through / socket).toFixed(2)}`);

  let frames = 0, first;
  const began = performance.now();
  const viewer = new WebSocket(session.liveViewUrl.replace("http", "ws").replace("?", "/socket?"));
  viewer.binaryType = "arraybuffer";
  viewer.onmessage = ({ data }) => {
    if (typeof data === "string") return;
    first ??= performance.now() - began;
    frames++;
    viewer.send(JSON.stringify({ type: "shown" }));
  };
  await pause(5000);
  report("live view", `first frame after ${first?.toFixed(0)} ms, ${((frames - 1) / (5 - first / 1000)).toFixed(1)} frames/s`, "200 ms, 15/s");
  viewer.close();

  await pause(2000);
  const before = memoryMb(server.pid);
  for (let count = 0; count < MORE_SESSIONS; count++) {
    const more = await ask("POST", "/v2/browser", {});
    await ask("POST", `/v2/browser/${more.id}/execute`, { language: "bash", code: `open ${url}` });
  }
  await pause(3000);
  const each = (memoryMb(server.pid) - before) / MORE_SESSIONS;
  report("memory of a session", `${each.toFixed(0)} MB, a plain Chromium with the same page ${memoryMb(plain.pid).toFixed(0)} MB`);
} finally {
  server.kill();
  plain.kill();
  listening.kill();
  await pause(1000);
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
