// The same calls to the official MCP server and to ours, over one API: the results are equal but for ids and times.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, officialServer, ourServer, pause, post, SITE_URL as site, toolCall } from "./mcp_tools.mjs";

const official = officialServer();
const ours = ourServer();
await Promise.all([official.open(), ours.open()]);
const page = `${site}/article`;
const file = join(folder, "report.html");
writeFileSync(file, "<html><head><title>Report</title></head><body><main><h1>Gannets</h1><p>They dive.</p></main></body></html>");

// What differs from call to call: ids, times, and what the official server adds about itself.
const idField = /^(id|.*Id|.*_id|token|cdpUrl|liveViewUrl|interactiveLiveViewUrl|feedUrl|timelineUrl|diffUrl|next|feedbackTool|docs_url|score|scores)$/;
const timeField = /(cron|At|Date|Time|Ms|Start|End|Run|timestamp|duration|creditsUsed|creditsBilled|remainingCredits|cachedAt|cacheState|.*Check)$/i;
const plain = value => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) return "a time";
  if (typeof value === "string" && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/.test(value)) return "an id";
  if (!value || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([name]) => !idField.test(name) && !timeField.test(name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, plain(inner)]));
};
const textOf = result => result.content[0].text;
// The text has everything; the official server leaves fields that its output schema does not know out of the data.
const dataOf = result => {
  try { return JSON.parse(textOf(result)); } catch { return result.structuredContent ?? textOf(result); }
};

let calls = 0;
const both = async (name, given, theirs = given, compare = true) => {
  const [a, b] = [(await official.call(name, theirs)), (await ours.call(name, given))];
  calls += 1;
  assert.ok(a.result && b.result, `${name}: ${JSON.stringify([a, b]).slice(0, 2000)}`);
  assert.equal(!!b.result.isError, !!a.result.isError, `${name}: ${JSON.stringify([a.result, b.result]).slice(0, 3000)}`);
  if (compare) {
    assert.deepEqual(plain(dataOf(b.result)), plain(dataOf(a.result)), name);
    assert.equal(!!b.result.structuredContent, !!a.result.structuredContent, `${name}: structured content`);
  }
  return [dataOf(a.result), dataOf(b.result)];
};

// 1 to 4: pages.
const [scraped, scrapedByUs] = await both("firecrawl_scrape", { url: page, formats: ["markdown"] });
assert.match(scrapedByUs.markdown, /firstword/);
await both("firecrawl_scrape", {
  url: page, formats: ["json", "links"], jsonOptions: { schema: { type: "object", properties: { title: { type: "string" } } } },
  onlyMainContent: true,
});
await both("firecrawl_map", { url: site });
const [searched, searchedByUs] = await both("firecrawl_search", { query: "gannets" });
assert.ok(searched.id && searchedByUs.id);
// 5 to 7: the catalogue, and feedback.
await both("firecrawl_find_tools", { query: "x" });
const good = { rating: "good", valuableSources: [{ url: page }] };
await both("firecrawl_search_feedback", { searchId: searchedByUs.id, ...good }, { searchId: searched.id, ...good });
const job = data => ({ endpoint: "scrape", jobId: data.metadata.scrapeId, rating: "good" });
await both("firecrawl_feedback", job(scrapedByUs), job(scraped));
// 8 to 10: crawls.
const [crawled, crawledByUs] = await both("firecrawl_crawl", { url: page, limit: 1 });
assert.equal(crawledByUs.data.length, 1);
await both("firecrawl_check_crawl_status", { id: crawledByUs.id }, { id: crawled.id });
await both("firecrawl_extract", { urls: [page], prompt: "x" }, undefined, false);
// 11 and 12: agents. Which pages a run reads is its own affair, so the end is not compared.
const schema = { type: "object", properties: { title: { type: "string" } } };
const asked = { prompt: "the title of the product", urls: [`${site}/product`], schema, strictConstrainToURLs: true };
const [run, runByUs] = await both("firecrawl_agent", asked);
const ended = async (client, id) => {
  for (let left = 150; left > 0; left -= 1) {
    const state = dataOf((await client.call("firecrawl_agent_status", { id })).result);
    if (state.status !== "processing") return state;
    await pause(200);
  }
  throw new Error("the run does not end");
};
assert.equal((await ended(ours, runByUs.id)).status, "completed");
assert.equal((await ended(official, run.id)).status, "completed");
await both("firecrawl_agent_status", { id: runByUs.id }, { id: runByUs.id });
// 13 to 15: a live page.
const [, live] = await both("firecrawl_interact", { url: page, code: "snapshot", language: "bash" });
assert.match(live.stdout, /ref=e\d/);
const [again] = await both("firecrawl_interact", { scrapeId: live.scrapeId, code: "page.url()", language: "node" });
assert.match(again.result, /article/);
const stopped = await ours.call("firecrawl_interact_stop", { scrapeId: live.scrapeId });
assert.equal(stopped.result.structuredContent.success, true);
calls += 1;
// 16: a file.
await both("firecrawl_parse", { filePath: file });
// 17 to 24: monitors.
const [made, madeByUs] = await both("firecrawl_monitor_create", { page, goal: "the title" });
const ids = [{ id: madeByUs.data.id }, { id: made.data.id }];
await both("firecrawl_monitor_list", {});
await both("firecrawl_monitor_get", ...ids);
await both("firecrawl_monitor_update", ...ids.map(one => ({ ...one, body: { status: "paused" } })));
await both("firecrawl_monitor_update", ...ids.map(one => ({ ...one, body: { status: "active" } })));
const [check, checkByUs] = await both("firecrawl_monitor_run", ...ids);
const checks = [{ ...ids[0], checkId: checkByUs.data.id }, { ...ids[1], checkId: check.data.id }];
for (const [client, which] of [[ours, checks[0]], [official, checks[1]]]) {
  for (let left = 150; left > 0; left -= 1) {
    const state = dataOf((await client.call("firecrawl_monitor_check", which)).result).data;
    if (!["queued", "running"].includes(state.status)) break;
    await pause(200);
  }
}
await both("firecrawl_monitor_checks", ...ids);
await both("firecrawl_monitor_check", ...checks);
await both("firecrawl_monitor_delete", ...ids);
// 25 to 30: papers and developer sources; the texts are equal too.
const text = async (name, given) => {
  const [a, b] = [(await official.call(name, given)).result, (await ours.call(name, given)).result];
  assert.deepEqual(plain(b.structuredContent), plain(a.structuredContent), name);
  assert.equal(textOf(b), textOf(a), name);
  calls += 1;
  return b.structuredContent;
};
const papers = (await text("firecrawl_research_search_papers", { query: "cell", k: 3 })).results;
const [first, second] = papers.map(paper => paper.primaryId);
await text("firecrawl_research_inspect_paper", { paperId: first });
await text("firecrawl_research_related_papers", { seed_ids: [first, second], intent: "methods", k: 3 });
await text("firecrawl_research_read_paper", { paperId: first, question: "methods" });
await both("firecrawl_research_search_github", { query: "q" }, undefined, false);
assert.ok((await text("firecrawl_developer_search", { query: "plunge" })).results.length > 0);
// 31 and 32: credits.
const [, credits] = await both("firecrawl_credit_usage", {});
assert.equal(credits.planCredits, 1_000_000_000);
await both("firecrawl_credit_usage", { view: "historical" });
assert.ok(calls >= 32, `${calls}`);

// The same over HTTP.
const overHttp = await (await post(toolCall("firecrawl_scrape", { url: page }))).json();
assert.deepEqual(plain(overHttp.result.structuredContent), plain(scrapedByUs));

official.child.kill();
assert.equal(await ours.close(), 0, ours.errors);
console.log(`${calls} calls: all passed`);
