// Documented calls of puppeteer-core at `cdpUrl`. Each is given a page in a context of its own.

import assert from "node:assert/strict";
import { connect } from "puppeteer-core";
import { around } from "./puppeteer_around.mjs";
import { runCalls } from "./table.mjs";

const { CDP_URL, SITE_URL: site } = process.env;
const browser = await connect({ browserWSEndpoint: CDP_URL, defaultViewport: null });
const log = (page, kind) => page.$eval("#log", (node, kind) => node.dataset[kind], kind);

const inPage = {
  "page.goto, title, url": async ({ page }) => {
    const response = await page.goto(`${site}/redirect`);
    assert.deepEqual([response.status(), page.url(), await page.title()], [200, `${site}/about`, "About us"]);
  },
  "page.goBack, goForward, reload": async ({ page }) => {
    await page.goto(`${site}/`);
    await page.goto(`${site}/about`);
    await page.goBack();
    assert.equal(await page.title(), "Bird Shop");
    await page.goForward();
    await page.reload();
    assert.equal(await page.title(), "About us");
  },
  "page.click": async ({ page }) => {
    await page.goto(`${site}/`);
    await page.click("#buy");
    await page.click("#buy", { count: 2 });
    assert.equal(await page.$eval("#out", node => node.textContent), "bought 3");
  },
  "locator.click, fill, hover": async ({ page }) => {
    await page.goto(`${site}/form`);
    await page.locator("#name").fill("Ann");
    await page.locator("#notes").hover();
    await page.locator("#agree").click();
    assert.deepEqual([await page.$eval("#name", n => n.value), await page.$eval("#agree", n => n.checked)], ["Ann", true]);
  },
  "page.type, keyboard.press": async ({ page }) => {
    await page.goto(`${site}/form`);
    await page.type("#name", "tern");
    await page.keyboard.down("Shift");
    await page.keyboard.press("Home");
    await page.keyboard.up("Shift");
    await page.keyboard.sendCharacter("漢");
    assert.equal(await page.$eval("#name", node => node.value), "漢");
  },
  "page.hover, focus": async ({ page }) => {
    await page.goto(`${site}/form`);
    await page.hover("#notes");
    await page.focus("#name");
    assert.deepEqual([await log(page, "mouseover"), await log(page, "focusin")], ["notes", "name"]);
  },
  "page.tap": async ({ page }) => {
    await page.setViewport({ width: 500, height: 500, hasTouch: true });
    await page.goto(`${site}/form`);
    await page.tap("#name");
    assert.equal(await log(page, "touchstart"), "name");
  },
  "page.select": async ({ page }) => {
    await page.goto(`${site}/form`);
    assert.deepEqual(await page.select("#size", "m"), ["m"]);
    assert.deepEqual(await page.select("#extras", "bag", "card"), ["bag", "card"]);
  },
  "a form is sent": async ({ page }) => {
    await page.goto(`${site}/form`);
    await page.type("#name", "Ann");
    await Promise.all([page.waitForNavigation(), page.click("#send")]);
    assert.match(await page.$eval("pre", node => node.textContent), /name=Ann/);
  },
  "mouse.move, down, up, wheel": async ({ page }) => {
    await page.goto(`${site}/tall`);
    await page.mouse.move(100, 100, { steps: 3 });
    await page.mouse.down();
    await page.mouse.up();
    await page.mouse.wheel({ deltaY: 600 });
    await page.waitForFunction(() => scrollY > 100);
  },
  "element.drag and drop": async ({ page }) => {
    await page.goto(`${site}/drag`);
    await (await page.$("#to")).drop(await page.$("#from"));
    assert.equal(await page.$eval("#to", node => node.textContent), "bird");
  },
  "page.$, $$, $eval, $$eval": async ({ page }) => {
    await page.goto(`${site}/`);
    assert.equal(await page.$("#nothing"), null);
    assert.equal((await page.$$("li")).length, 3);
    assert.deepEqual(await page.$$eval("li", all => all.map(one => one.textContent)), ["tern", "puffin", "gannet"]);
  },
  "aria, text and xpath selectors": async ({ page }) => {
    await page.goto(`${site}/`);
    assert.ok(await page.$("aria/Buy now") && await page.$("text/puffin") && await page.$("xpath///h1"));
  },
  "element.boundingBox, isVisible, screenshot": async ({ page }) => {
    await page.goto(`${site}/`);
    const button = await page.$("#buy");
    assert.ok((await button.boundingBox()).width > 10 && await button.isVisible());
    assert.ok((await button.screenshot()).length > 100);
  },
  "page.waitForSelector": async ({ page }) => {
    await page.goto(`${site}/form`);
    await page.evaluate(() => { setTimeout(() => { late.hidden = false; }, 200); });
    assert.ok(await page.waitForSelector("#late", { visible: true }));
  },
  "page.evaluate, evaluateHandle": async ({ page }) => {
    await page.goto(`${site}/`);
    assert.deepEqual(await page.evaluate((a, b) => ({ sum: a + b }), 1, 2), { sum: 3 });
    const handle = await page.evaluateHandle(() => document.body);
    assert.equal(await handle.evaluate(node => node.tagName), "BODY");
  },
  "page.exposeFunction": async ({ page }) => {
    await page.exposeFunction("twice", n => 2 * n);
    await page.goto(`${site}/`);
    assert.equal(await page.evaluate(() => twice(4)), 8);
  },
  "page.evaluateOnNewDocument": async ({ page }) => {
    await page.evaluateOnNewDocument(() => { window.early = "yes"; });
    await page.goto(`${site}/`);
    assert.equal(await page.evaluate(() => early), "yes");
  },
  "page.addScriptTag, addStyleTag": async ({ page }) => {
    await page.goto(`${site}/`);
    await page.addScriptTag({ content: "window.added = 1" });
    await page.addStyleTag({ content: "h1 { color: rgb(9, 8, 7) }" });
    assert.deepEqual(await page.evaluate(() => [added, getComputedStyle(document.querySelector("h1")).color]), [1, "rgb(9, 8, 7)"]);
  },
  "page.setContent, content": async ({ page }) => {
    await page.setContent("<h1>Own</h1>");
    assert.match(await page.content(), /<h1>Own<\/h1>/);
  },
  "page.screenshot": async ({ page }) => {
    await page.goto(`${site}/tall`);
    assert.equal(Buffer.from(await page.screenshot()).subarray(1, 4).toString(), "PNG");
    assert.ok((await page.screenshot({ fullPage: true, type: "webp" })).length > 500);
  },
  "page.pdf": async ({ page }) => {
    await page.goto(`${site}/`);
    assert.equal(Buffer.from(await page.pdf()).subarray(0, 5).toString(), "%PDF-");
  },
  "accessibility.snapshot": async ({ page }) => {
    await page.goto(`${site}/`);
    const tree = JSON.stringify(await page.accessibility.snapshot());
    assert.match(tree, /"role":"heading"[^}]*"name":"Bird Shop"/);
  },
};

await runCalls({ ...inPage, ...around }, async () => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  return { browser, context, page, site, close: () => context.close() };
});
await browser.disconnect();
process.exit(0);
