// The npm package agent-browser and the `agent-browser` of a session's bash, on the same pages: the same lines must print the
// same, or at least end alike where the package prints what only it has. API_URL, API_KEY: the server.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSite } from "./site.mjs";

const { API_URL, API_KEY } = process.env;
const site = await startSite();
const headers = { "Content-Type": "application/json", Authorization: `Bearer ${API_KEY}` };
const ask = async (method, path, body) => (await fetch(API_URL + path, { method, headers, body: body && JSON.stringify(body) })).json();
const [theirs, ours] = [await ask("POST", "/v2/browser", {}), await ask("POST", "/v2/browser", {})];
const folder = mkdtempSync(join(tmpdir(), "compare-"));
const program = new URL("../node_modules/agent-browser/bin/agent-browser.js", import.meta.url).pathname;
const env = { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, AGENT_BROWSER_SOCKET_DIR: folder };

const runTheirs = line => new Promise(done => {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
  execFile(process.execPath, [program, "--cdp", theirs.cdpUrl, ...words], { env, cwd: folder, timeout: 30_000 }, (error, stdout) => done({ code: error ? 1 : 0, text: stdout.trim() }));
});
const runOurs = async line => {
  const { stdout, exitCode } = await ask("POST", `/v2/browser/${ours.id}/execute`, { language: "bash", code: `agent-browser ${line}`, timeout: 60 });
  return { code: exitCode ? 1 : 0, text: stdout.trim() };
};

// What must be printed alike. (A double click of the package is one click to the page, ours are two, as a user's are.)
const alike = [
  `open ${site}/`, "get title", "get url", "get text h1", "get html h1", "get count li", "is visible '#buy'", "is enabled '#buy'",
  "click '#buy'", "get text '#out'", "dblclick '#buy'", "eval document.title", "eval '1 + 2'", "eval '({a: 1})'", "eval '[1, 2]'",
  `open ${site}/form`, "get attr '#name' placeholder", "get value '#name'", "fill '#name' 'puffin bird'", "get value '#name'", "type '#name' ' more'", "get value '#name'",
  "focus '#name'", "press End", "keyboard type x", "get value '#name'", "hover '#notes'", "get attr '#log' data-mouseover",
  "check '#agree'", "is checked '#agree'", "uncheck '#agree'", "is checked '#agree'", "select '#size' m", "get value '#size'",
  "find label Notes fill tern", "get value '#notes'", "wait 50", "wait '#name'", "scroll down 100", "scrollintoview '#send'",
  "storage local set k v", "storage local get k", "cookies set a b", "cookies clear", "set viewport 800 600", "set media dark", "set offline off",
  `open ${site}/about`, "back", "get title", "forward", "get title", "reload", "get title", "mouse move 10 10", "mouse down", "mouse up",
];
// What must end alike; the words of an error, or the place of a ref, are each one's own.
const endAlike = [
  `open ${site}/`, "snapshot", "snapshot -i", "tab", "console", "errors", "dialog status", "network requests", "frame main", "get box '#buy'",
  "click '#nothere'", "click @e999", "foo", "get foo", "is foo x", "find foo x click", "set device nope", "tab 9", "wait '#zzz' --timeout 300",
];
const [differences, unanswered] = [[], []];
for (const [lines, whole] of [[alike, true], [endAlike, false]]) {
  for (const line of lines) {
    const [mine, other] = [await runOurs(line), await runTheirs(line)];
    // On a busy machine the package gives up before the page has come: there is nothing to compare then.
    if (other.code && !mine.code && unanswered.push(line) <= 1) continue;
    if (mine.code !== other.code || (whole && mine.text !== other.text)) {
      differences.push(`${line}\n   theirs ${other.code} ${JSON.stringify(other.text.slice(0, 300))}\n   ours   ${mine.code} ${JSON.stringify(mine.text.slice(0, 300))}`);
    }
  }
}
await runTheirs("close");
for (const { id } of [theirs, ours]) await ask("DELETE", `/v2/browser/${id}`);
rmSync(folder, { recursive: true, force: true });
assert.deepEqual(differences, [], `${differences.length} of ${alike.length + endAlike.length} lines differ:\n${differences.join("\n")}`);
console.log(`${alike.length + endAlike.length} lines: all passed`);
process.exit(0);
