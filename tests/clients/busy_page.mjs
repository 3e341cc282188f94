// A page that draws without end is driven while others look on.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const browser = await chromium.connectOverCDP(process.env.CDP_URL);
const page = browser.contexts()[0].pages()[0];
await page.setContent(`<canvas id=c width=1200 height=650></canvas><script>const g = c.getContext("2d");
  (function draw() { for (let i = 0; i < 400; i++) { g.fillStyle = "hsl(" + Math.random() * 360 + " 90% 50%)"; g.fillRect(Math.random() * 1200, Math.random() * 650, 40, 40); } requestAnimationFrame(draw); })();
  </script>`);
const began = Date.now();
let calls = 0;
while (Date.now() - began < 4000) {
  assert.equal(await page.evaluate("1 + 1"), 2);
  calls++;
}
assert.ok(calls > 20, `${calls} calls in four seconds`);
await page.setContent("<title>at rest</title>");
assert.equal(await page.title(), "at rest");
await browser.close();
console.log("all passed");
