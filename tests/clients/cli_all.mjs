// Every command of the unmodified command line client, with ids that exist: each ends with code 0.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { API_KEY, API_URL, env, folder, packages, pause, SITE_URL as site } from "./mcp_tools.mjs";

const page = `${site}/article`;
const program = join(packages, "firecrawl-cli/dist/index.js");
writeFileSync(join(folder, "a.html"), "<h1>x</h1>");
let commands = 0;
const run = (...given) => new Promise((resolve, reject) => {
  commands += 1;
  const child = execFile(process.execPath, [program, ...given], { env, cwd: folder, timeout: 60000 }, (error, stdout, stderr) => {
    error ? reject(new Error(`${given.join(" ")}: ${error.code ?? error.signal}: ${stdout}${stderr}`)) : resolve(stdout);
  });
  child.stdin.end();
});
const api = async (path, body) => (await fetch(API_URL + path, {
  method: body ? "POST" : "GET", headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
  body: body && JSON.stringify(body),
})).json();
const json = text => JSON.parse(text.slice(text.indexOf("{")));

// Jobs that the commands are about.
const scraped = (await api("/v2/scrape", { url: page })).data.metadata.scrapeId;
const hanging = async () => (await api("/v2/crawl", { url: `${site}/hang`, limit: 1 })).id;
const searched = (await api("/v2/search", { query: "gannets" })).id;
const crawled = (await api("/v2/crawl", { url: page, limit: 1 })).id;
const product = `${site}/product`;
const schema = { type: "object", properties: { title: { type: "string" } } };
const asked = async prompt => (await api("/v2/agent", { prompt, urls: [product], schema, strictConstrainToURLs: true })).id;
const [runId, cancelled] = [await asked("the title"), await asked("the title and more")];
const paper = (await api("/v2/search/research/papers?query=cell&k=1")).results[0].primaryId;

// Without a browser session, several at a time.
await Promise.all([
  run("scrape", page).then(text => assert.match(text, /firstword/)),
  run("scrape", page, "-f", "markdown,links"),
  run("crawl", page, "--limit", "2", "--wait", "--poll-interval", "1", "--timeout", "30"),
  run("crawl", crawled),
  run("crawl", await hanging(), "--cancel"),
  run("map", site, "--limit", "3"),
  run("parse", "a.html"),
]);
await Promise.all([
  run("search", "gannets", "--limit", "3"),
  run("search", "gannets", "--scrape"),
  run("agent", "the title", "--urls", product, "--schema", JSON.stringify(schema), "--wait", "--poll-interval", "1"),
  run("agent", runId, "--status"),
  run("agent", cancelled, "--cancel").catch(error => assert.match(error.message, /already|completed|ended|409/i)),
]);
await Promise.all([
  run("research", "search-papers", "cell"),
  run("research", "inspect-paper", paper),
  run("research", "related-papers", paper, "--intent", "methods"),
  run("research", "read-paper", paper, "--question", "methods"),
  run("research", "search-github", "plunge").then(text => assert.match(text, /plunge/i)),
  run("developer", "plunge"),
]);
await Promise.all([
  run("feedback", "scrape", scraped, "--rating", "good"),
  run("search-feedback", searched, "--rating", "good", "--valuable-sources", JSON.stringify([{ url: page }])),
  run("credit-usage"),
  run("doctor"),
  run("doctor", scraped).then(text => assert.match(text, /succeeded/)),
  run("--status"),
  run("view-config"),
]);
await run("x", "download", page, "--limit", "1", "-y");

// Monitors.
const made = json(await run("monitor", "create", "--name", "n", "--goal", "g", "--schedule", "every 30 minutes", "--page", page)).data;
await run("monitor", "create", "--name", "n", "--goal", "g", "--cron", "*/30 * * * *", "--queries", "a,b");
await run("monitor", "list", "--limit", "2");
await run("monitor", "get", made.id);
const check = json(await run("monitor", "run", made.id)).data;
await pause(500);
await run("monitor", "checks", made.id);
await run("monitor", "check", made.id, check.id, "--page-status", "changed");
await run("monitor", "update", made.id, "--state", "paused");
await run("monitor", "delete", made.id);

// Live pages.
await run("scrape", page);
await run("interact", "scroll down");
await run("interact", "-c", "await page.title()");
assert.match(await run("interact", "-c", "snapshot", "--bash"), /ref=e\d/);
await run("interact", "stop");
await run("browser", "launch-session");
await run("browser", "execute", `open ${page}`);
assert.match(await run("browser", "execute", "snapshot"), /ref=e\d/);
await run("browser", "list");
await run("browser", "close");

// What the commands read besides.
const queue = await api("/v2/team/queue-status");
assert.ok(queue.maxConcurrency > 0 && queue.maxConcurrency < 1000, JSON.stringify(queue));
const github = await fetch(`${API_URL}/v2/search/research/github?query=plunge`, { headers: { authorization: `Bearer ${API_KEY}` } });
assert.equal(github.headers.get("deprecation"), "true");
assert.ok((await github.json()).results.length > 0);
const answer = await api("/v2/support/docs-search", { question: "How are webhooks signed?" });
assert.ok(answer.evidence.some(one => one.pathOrUrl.startsWith("docs/webhooks.md")), JSON.stringify(answer));
assert.equal((await api("/v2/support/ask", { question: "" })).success, false);
const unknown = await api("/v2/support/ask", { question: "why?", jobId: "019a0000-0000-7000-8000-000000000001" });
assert.match(unknown.answer, /no job/);
assert.ok(commands >= 43, `${commands}`);
console.log(`${commands} commands: all passed`);
