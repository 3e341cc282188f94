// `gannet mcp` without a server: the engine runs in the process, without a port, and ends with its input.

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { folder, ourServer, pause, SITE_URL as site } from "./mcp_tools.mjs";

const data = mkdtempSync(join(folder, "data-"));
const own = {
  FIRECRAWL_API_URL: undefined, FIRECRAWL_API_KEY: undefined, GANNET_DATA_DIR: data, GANNET_LISTEN: "127.0.0.1:1",
  GANNET_EGRESS_ALLOW: "scrape=127.0.0.0/8,::1/128", GANNET_RESEARCH_STARTER: "off",
};
const open = async () => {
  const server = ourServer([], own);
  await server.open();
  return server;
};
const page = `${site}/article`;
const first = await open();
const second = await open();
for (const server of [first, second]) {
  const { result } = await server.call("firecrawl_scrape", { url: page });
  assert.match(result.structuredContent?.markdown ?? JSON.stringify(result), /firstword/);
}
assert.match(second.errors, /temporary folder/, second.errors);
const crawled = (await first.call("firecrawl_crawl", { url: page, limit: 2 })).result.structuredContent;
assert.equal(crawled.status, "completed", JSON.stringify(crawled));
const wrong = await first.call("firecrawl_scrape", { url: "http://169.254.169.254/" });
assert.equal(wrong.result.isError, true);
assert.equal(await first.close(), 0, first.errors);
assert.equal(await second.close(), 0, second.errors);

// What was stored is there at the next start, and a signal ends it too.
const third = await open();
const status = await third.call("firecrawl_check_crawl_status", { id: crawled.id });
assert.equal(status.result.structuredContent.completed, crawled.completed);
third.child.kill("SIGTERM");
assert.equal(await Promise.race([third.ended, pause(15000)]), 0, third.errors);
console.log("all passed");
