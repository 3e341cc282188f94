// Downloads of a Playwright at `cdpUrl`: they are not on its own disk, and are fetched over HTTP.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { chromium } from "playwright-core";

const { CDP_URL, SITE_URL } = process.env;
const browser = await chromium.connectOverCDP(CDP_URL);
const page = browser.contexts()[0].pages()[0];
await page.goto(`${SITE_URL}/article`);
await page.setContent("<a id=get download=birds.txt href=data:text/plain,gannets>Get</a>");
const [download] = await Promise.all([page.waitForEvent("download"), page.click("#get")]);
assert.equal(await download.failure(), null);

const path = await download.path();
assert.equal(existsSync(path), false, "the server writes to no folder that a client names");
const fileUrl = name => CDP_URL.replace(/^ws/, "http").replace("?", `/files/${name}?`);
const response = await fetch(fileUrl(basename(path)));
assert.equal(response.status, 200);
assert.equal(await response.text(), "gannets");
assert.equal(response.headers.get("content-disposition"), "attachment");

for (const name of ["missing", "..", "..%2Fhome%2FDefault%2FPreferences", "%2Fetc%2Fpasswd", "."]) {
  assert.equal((await fetch(fileUrl(name))).status, 404, name);
}
const forged = fileUrl(basename(path)).replace(/token=.{8}/, "token=AAAAAAAA");
assert.equal((await fetch(forged)).status, 404);
console.log("all passed");
process.exit(0);
