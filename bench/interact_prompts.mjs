// Prompts by rules on the pages of MiniWoB++ (the PyPI package `miniwob`, folder `miniwob/html`): each page shows a task in
// words, and knows itself whether it was done. The task's own words are the prompt.
//
//     node bench/interact_prompts.mjs GANNET PAGES [--seeds 3] [--half first|second|both] [--verbose]
//
// What is measured was fixed before the first run:
// - The pages are all those of the folder but the copies whose names end in `-nodelay`, by name. The first half is every
//   second of them from the first on (62 pages), the second half is the rest (62).
// - A task is explicit when it names each action by a verb and each element and value by words that stand in the page, by its
//   kind or by its number, so that somebody who sees neither shapes, colours nor pictures can do it without looking up,
//   computing or judging anything. The list below was made from the texts of the tasks.
// - A task is done when the page gives a reward above 0, and wrongly said to be done when the prompt is `Completed` and the
//   page gives none. Each page is done with several seeds. The instruction stays visible in the page.
// - Pages judge what was done when their Submit is pressed. Where the text of a task leaves that out, it is pressed here.

import { spawn } from "node:child_process";
import { createReadStream, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { createInterface } from "node:readline";

const EXPLICIT = new Set(`
  button-delay choose-date choose-date-easy choose-date-medium choose-list click-button click-button-sequence click-checkboxes
  click-checkboxes-large click-checkboxes-transfer click-collapsible click-collapsible-2 click-dialog click-dialog-2 click-link
  click-menu click-option click-pie click-scroll-list click-tab click-tab-2 click-tab-2-easy click-tab-2-hard
  click-tab-2-medium click-test click-test-2 click-test-transfer click-widget copy-paste copy-paste-2 enter-date
  enter-password enter-text enter-text-2 enter-text-dynamic enter-time focus-text focus-text-2 form-sequence form-sequence-2
  form-sequence-3 highlight-text highlight-text-2 login-user login-user-popup navigate-tree scroll-text-2 search-engine
  sign-agreement social-media social-media-all social-media-some unicode-test use-slider use-slider-2 use-spinner
`.trim().split(/\s+/));
const KEY = "gn-bench-0123456789abcdef";
const TASK_SECONDS = 300;

const [binary, pages] = process.argv.slice(2);
const option = (name, fallback) => { const at = process.argv.indexOf(`--${name}`); return at < 0 ? fallback : process.argv[at + 1]; };
const seeds = Number(option("seeds", "3")), half = option("half", "both"), only = option("only", ""), firstSeed = Number(option("first-seed", "1"));
const verbose = process.argv.includes("--verbose");
const all = readdirSync(join(pages, "miniwob")).filter(name => name.endsWith(".html")).map(name => name.slice(0, -5)).filter(name => !name.endsWith("-nodelay")).sort();
const halves = { first: all.filter((_, at) => at % 2 === 0), second: all.filter((_, at) => at % 2 === 1) };

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".png": "image/png", ".gif": "image/gif" };
const site = createServer((request, response) => {
  const path = join(pages, normalize(new URL(request.url, "http://x").pathname));
  let isFile = false;
  try { isFile = path.startsWith(normalize(pages)) && statSync(path).isFile(); } catch {}
  if (!isFile) { response.writeHead(404).end(); return; }
  response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" });
  createReadStream(path).pipe(response);
});
await new Promise(done => site.listen(0, "127.0.0.1", done));
const base = `http://127.0.0.1:${site.address().port}/miniwob/`;

const folder = mkdtempSync(join(tmpdir(), "bench-prompts-"));
const env = { PATH: process.env.PATH, HOME: folder, GANNET_API_KEY: KEY, GANNET_EGRESS_ALLOW: "scrape=127.0.0.0/8", GANNET_INTERACT_USER: "same", GANNET_RESEARCH_STARTER: "off" };
const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", join(folder, "data")], { env, stdio: ["ignore", "pipe", "ignore"] });
const address = await new Promise(done => createInterface({ input: server.stdout }).on("line", line => { const found = /listening\s+(\S+)/.exec(line); if (found) done(found[1]); }));
const ask = async (method, path, body) => {
  const response = await fetch(address + path, { method, headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  return { status: response.status, ...await response.json() };
};

let scrape;
const begin = async () => {
  if (scrape) await ask("DELETE", `/v2/scrape/${scrape}/interact`);
  const scraped = await ask("POST", "/v2/scrape", { url: `${base}click-test.html`, maxAge: 0 });
  scrape = scraped.data.metadata.scrapeId;
};
const command = async code => {
  const reply = await ask("POST", `/v2/scrape/${scrape}/interact`, { language: "bash", code, timeout: 60 });
  if (reply.exitCode !== 0) throw new Error(`${code}: ${JSON.stringify(reply)}`);
  return reply.stdout.trim();
};
const evaluate = async script => JSON.parse(JSON.parse(await command(`eval '${script}'`)));

async function attempt(name, seed) {
  await command(`open ${base}${name}.html`);
  await command(`eval 'core.EPISODE_MAX_TIME = ${TASK_SECONDS * 1000}; Math.seedrandom("${seed}"); core.startEpisodeReal()'`);
  const prompt = await evaluate("JSON.stringify(core.getUtterance())");
  const began = performance.now();
  const reply = await ask("POST", `/v2/scrape/${scrape}/interact`, { prompt, timeout: 60 });
  const seconds = (performance.now() - began) / 1000;
  await command("dialog status");
  if (!/submit|press|click|hit/i.test(prompt)) await command(`eval 'WOB_DONE_GLOBAL || document.getElementById("subbtn")?.click(); 1'`);
  const [reward, ended] = await evaluate("JSON.stringify([WOB_RAW_REWARD_GLOBAL, WOB_DONE_GLOBAL])");
  return { name, seed, prompt, said: reply.success === true, isDone: ended && reward > 0, output: reply.output ?? reply.error ?? "", seconds };
}

const results = [];
try {
  while ((await fetch(`${address}/ready`)).status !== 200) await new Promise(done => setTimeout(done, 50));
  const names = only ? only.split(",") : half === "both" ? all : halves[half];
  await begin();
  for (const [at, name] of names.entries()) {
    // A session lives for ten minutes.
    if (at % 20 === 19) await begin();
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      let result;
      try { result = await attempt(name, seed); } catch (error) { result = { name, seed, prompt: "", said: false, isDone: false, output: `bench: ${error.message}`, seconds: 0 }; await begin(); }
      results.push(result);
      const mark = result.isDone ? "done " : result.said ? "WRONG" : "     ";
      if (verbose || mark === "WRONG") console.log(`${mark} ${EXPLICIT.has(name) ? "explicit" : "        "} ${name} ${seed}: ${result.prompt}\n      ${result.output.replaceAll("\n", " | ").slice(0, 400)}`);
    }
  }
} finally {
  if (scrape) await ask("DELETE", `/v2/scrape/${scrape}/interact`).catch(() => {});
  server.kill();
  await new Promise(done => server.on("exit", done));
  rmSync(folder, { recursive: true, force: true });
  site.close();
}

const share = (part, whole) => `${part.length} of ${whole.length} = ${(100 * part.length / Math.max(whole.length, 1)).toFixed(1)} %`;
for (const [title, list] of [["first half", halves.first], ["second half", halves.second]]) {
  const own = results.filter(result => list.includes(result.name));
  if (own.length === 0) continue;
  const explicit = own.filter(result => EXPLICIT.has(result.name)), natural = own.filter(result => !EXPLICIT.has(result.name));
  console.log(`${title}: ${new Set(own.map(result => result.name)).size} pages`);
  console.log(`  explicit             ${share(explicit.filter(result => result.isDone), explicit)}`);
  console.log(`  others               ${share(natural.filter(result => result.isDone), natural)}`);
  console.log(`  wrongly said done    ${own.filter(result => result.said && !result.isDone).length}`);
  console.log(`  seconds, median      ${own.map(result => result.seconds).sort((a, b) => a - b)[own.length >> 1].toFixed(2)}`);
}
