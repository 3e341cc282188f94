// Runs the tables of calls of unmodified clients against sessions of a Gannet server (API_URL, API_KEY), or with
// `--plain` against a Chromium of the system, to see whether a failing call fails there too.
//
//     node run.mjs [--plain] [--every N] [client…]
//
// `--every N` runs each Nth call only.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSite } from "./site.mjs";

const here = name => new URL(name, import.meta.url).pathname;
const clients = {
  "playwright": [process.execPath, here("playwright.mjs")],
  "playwright-python": [process.env.PYTHON ?? "python3", here("playwright_python.py")],
  "puppeteer": [process.execPath, here("puppeteer.mjs")],
  "agent-browser": [process.execPath, here("agent_browser.mjs")],
};

const { API_URL, API_KEY } = process.env;
const wanted = process.argv.slice(2);
const plain = wanted.includes("--plain");
const every = wanted.includes("--every") ? wanted[wanted.indexOf("--every") + 1] : "1";
const chosen = Object.keys(clients).filter(name => wanted.includes(name));

/** A session: its address, and how it is ended. */
async function beginSession() {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${API_KEY}` };
  const response = await fetch(`${API_URL}/v2/browser`, { method: "POST", headers, body: JSON.stringify({ ttl: 900 }) });
  const session = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(session));
  return { cdpUrl: session.cdpUrl, end: () => fetch(`${API_URL}/v2/browser/${session.id}`, { method: "DELETE", headers }) };
}

async function startChromium() {
  const profile = mkdtempSync(join(tmpdir(), "plain-chromium-"));
  const browser = spawn(process.env.CHROMIUM ?? "chromium-headless-shell", ["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run", "--disable-back-forward-cache",
    `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  const cdpUrl = await new Promise((done, failed) => {
    createInterface({ input: browser.stderr }).on("line", line => { const url = /ws:\S+/.exec(line); if (url) done(url[0]); });
    browser.on("exit", () => failed(new Error("Chromium ended")));
  });
  return {
    cdpUrl,
    end: () => new Promise(done => { browser.on("exit", done); browser.kill(); }).then(() => rmSync(profile, { recursive: true, force: true })),
  };
}

const site = await startSite();
let passed = 0;
const failures = [];
for (const name of chosen.length ? chosen : Object.keys(clients)) {
  const browser = await (plain ? startChromium() : beginSession());
  const [program, ...given] = clients[name];
  const env = { ...process.env, CDP_URL: browser.cdpUrl, SITE_URL: site, EVERY: every };
  const child = spawn(program, given, { env, stdio: ["ignore", "pipe", "inherit"] });
  const began = Date.now();
  let calls = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) { console.log(line); continue; }
    const { name: call, ms, error } = JSON.parse(line);
    calls++;
    if (!error) { passed++; if (process.env.VERBOSE) console.log(`  ${ms} ms  ${call}`); continue; }
    failures.push(`${name}: ${call}`);
    console.log(`FAILED ${name}: ${call} (${ms} ms)\n${error}`);
  }
  if (child.exitCode) failures.push(`${name} ended with ${child.exitCode}`);
  console.log(`${name}: ${calls} calls in ${Date.now() - began} ms`);
  await browser.end();
}
console.log(`${passed} passed, ${failures.length} failed${failures.length ? `: ${failures.join(", ")}` : ""}`);
if (failures.length === 0 && passed > 0) console.log("all passed");
process.exit(failures.length ? 1 : 0);
