// playwright-core, unmodified, against `cdpUrl`.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const { CDP_URL, SITE_URL } = process.env;
for (const endpoint of [CDP_URL, CDP_URL.replace("ws", "http")]) {
  const browser = await chromium.connectOverCDP(endpoint);
  const context = browser.contexts()[0];
  const page = context.pages()[0];
  await page.goto(`${SITE_URL}/article`);
  assert.match(await page.locator("body").innerText(), /firstword/);
  await page.setContent("<label>Name <input id=n></label><button onclick=\"out.textContent = n.value\">Send</button><p id=out></p>");
  await page.getByLabel("Name").fill("Ann");
  await page.getByRole("button", { name: "Send" }).click();
  assert.equal(await page.textContent("#out"), "Ann");
  const [popup] = await Promise.all([
    page.waitForEvent("popup"),
    page.evaluate(url => { window.open(url); }, `${SITE_URL}/article`),
  ]);
  await popup.waitForLoadState();
  assert.match(popup.url(), /article/);
  await popup.close();
  const own = await browser.newContext();
  const second = await own.newPage();
  await second.route("**/mocked", route => route.fulfill({ body: "<h1>mock</h1>", contentType: "text/html" }));
  await second.goto(`${SITE_URL}/mocked`);
  assert.equal(await second.textContent("h1"), "mock");
  await own.close();
  assert.ok((await page.screenshot()).length > 1000);
  await assert.rejects(page.goto("file:///etc/passwd"), /not allowed/);
  assert.match(await page.locator("body").ariaSnapshot(), /Send/);
  await browser.close();
}
console.log("all passed");
