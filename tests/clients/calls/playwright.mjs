// Documented calls of playwright-core at `cdpUrl`. Each is given a page in a context of its own.

import { chromium } from "playwright-core";
import { runCalls } from "./table.mjs";
import { contexts } from "./playwright_contexts.mjs";
import { network } from "./playwright_network.mjs";
import { pages } from "./playwright_pages.mjs";

const { CDP_URL, SITE_URL: site } = process.env;
const browser = await chromium.connectOverCDP(CDP_URL);
await runCalls({ ...pages, ...network, ...contexts }, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  return { browser, context, page, site, far: site.replace("127.0.0.1", "localhost"), close: () => context.close() };
});
await browser.close();
process.exit(0);
