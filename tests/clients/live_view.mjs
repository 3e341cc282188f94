// A person watches a session in a real Chromium and logs in with mouse and keys. The picture of the page is all they see, so
// where to click is known from the picture's own page.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const { CDP_URL, VIEW_URL, ACT_URL, SITE_URL, PICTURE } = process.env;
const browser = await chromium.connectOverCDP(CDP_URL);
const context = browser.contexts()[0];
const page = context.pages()[0];
await page.setViewportSize({ width: 1280, height: 788 });
const canvas = page.locator("canvas");
// What is drawn, as a short text; a blank canvas has one colour.
const drawn = () => canvas.evaluate(canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0;
  for (let at = 0; at < data.length; at += 40) sum = (sum * 31 + data[at]) % 1000000007;
  return sum;
});
const changes = async (before, what) => {
  for (let tries = 0; tries < 100; tries++) {
    const now = await drawn();
    if (now !== before) return now;
    await page.waitForTimeout(50);
  }
  assert.fail(`nothing is shown: ${what}`);
};
// Where an element is in the view, which shows the page from its top left corner.
const own = await context.newPage();
await own.setViewportSize({ width: 1280, height: 800 });
await own.goto(`${SITE_URL}/member`);
const boxes = {};
for (const id of ["name", "password", "send"]) boxes[id] = await own.locator(`#${id}`).boundingBox();
await own.close();
const click = async id => {
  const view = await canvas.boundingBox(), scale = view.width / 1280, box = boxes[id];
  await page.mouse.click(view.x + (box.x + box.width / 2) * scale, view.y + (box.y + box.height / 2) * scale);
};

// With the link that only shows, nothing can be done.
await page.goto(VIEW_URL);
let shown = await changes(0, "the first frame");
assert.equal(await page.locator("#address").inputValue(), `${SITE_URL}/member`);
assert.equal(await page.locator("#address").getAttribute("readonly"), "");
await click("name");
await page.keyboard.type("Eve");
await page.waitForTimeout(500);
assert.equal(await drawn(), shown, "a viewer without the right acts");

await page.goto(ACT_URL);
shown = await changes(0, "the first frame");
await click("name");
shown = await changes(shown, "the field that has the focus");
await page.keyboard.type("Anx");
await page.keyboard.press("Backspace");
await page.keyboard.type("n");
shown = await changes(shown, "the name");
await click("password");
await page.keyboard.type("gannet-4", { delay: 10 });
shown = await changes(shown, "the password");
if (PICTURE) {
  await page.waitForTimeout(500);
  await page.screenshot({ path: PICTURE });
}
await page.keyboard.press("Enter");
await changes(shown, "the login");
await page.waitForTimeout(500);

// Tabs and the address bar.
await page.getByTitle("New tab").click();
await page.locator("#tabs button").nth(1).waitFor();
await page.locator("#address").fill(`${SITE_URL}/article`);
await page.locator("#address").press("Enter");
await page.locator("#tabs button", { hasText: "How gannets dive" }).waitFor({ timeout: 10000 });
await browser.close();
console.log("all passed");
