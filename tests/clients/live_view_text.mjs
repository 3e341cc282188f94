// Text that keys alone do not give, lists, dialogs, files and fingers, through the live view in a real Chromium. What has
// arrived is read from the page of the session itself.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const { CDP_URL, ACT_URL, SESSION_CDP_URL, SITE_URL } = process.env;
const PAGE = `<!doctype html><title>Form</title><style>body { margin: 0; height: 3000px } * { position: absolute } </style>
  <input id=text style="left:20px;top:20px;width:400px;height:40px">
  <select id=list style="left:20px;top:100px;width:200px;height:40px"><option>Red<option>Green<option disabled>Blue</select>
  <button id=ask style="left:20px;top:180px;width:200px;height:40px" onclick="document.title = 'said ' + prompt('Your name?', 'Ann')">Ask</button>
  <input type=file id=file style="left:20px;top:260px;width:300px;height:40px" onchange="file.files[0].text().then(text => { document.title = file.files[0].name + ' ' + text })">`;
const viewer = await chromium.connectOverCDP(CDP_URL);
const session = await chromium.connectOverCDP(SESSION_CDP_URL);
const page = session.contexts()[0].pages()[0];
await page.goto(`${SITE_URL}/article`);
await page.evaluate(html => { document.open(); document.write(html); document.close(); }, PAGE);
// Dialogs are answered in the view, not by this client.
page.on("dialog", () => {});

const context = viewer.contexts()[0];
const view = context.pages()[0];
await view.setViewportSize({ width: 1280, height: 900 });
await view.goto(ACT_URL);
await view.locator("#mode.interactive").waitFor();
const size = await page.evaluate(() => [innerWidth, innerHeight]);
const canvas = view.locator("canvas");
const at = async (x, y) => {
  const box = await canvas.boundingBox();
  return [box.x + x * box.width / size[0], box.y + y * box.height / size[1]];
};
const click = async (x, y) => view.mouse.click(...await at(x, y));
const until = async (what, read, wanted) => {
  let last;
  for (let tries = 0; tries < 200; tries++) {
    last = await read();
    if (last === wanted) return;
    await view.waitForTimeout(50);
  }
  assert.equal(last, wanted, what);
};
const value = () => page.evaluate(() => document.getElementById("text").value);
const focused = () => page.evaluate(() => document.activeElement.id);

await click(100, 40);
await until("a click", focused, "text");
const keyboard = await context.newCDPSession(view);
// An input method: what is composed is seen, what is finished replaces it.
await keyboard.send("Input.imeSetComposition", { text: "にほ", selectionStart: 2, selectionEnd: 2 });
await until("composed text", value, "にほ");
await keyboard.send("Input.insertText", { text: "日本" });
await until("finished text", value, "日本");
// A dead key: the first key gives nothing, the second the sign.
await keyboard.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "Dead", code: "BracketLeft", windowsVirtualKeyCode: 229 });
await keyboard.send("Input.imeSetComposition", { text: "´", selectionStart: 1, selectionEnd: 1 });
await keyboard.send("Input.insertText", { text: "é" });
await until("a dead key", value, "日本é");
// The keyboard of a phone: keys without a name, then text.
for (const text of ["g", "eheim ", "ä€😀"]) {
  await keyboard.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "Unidentified", windowsVirtualKeyCode: 229 });
  await keyboard.send("Input.insertText", { text });
}
await until("text of a phone", value, "日本égeheim ä€😀");
await view.evaluate(() => document.execCommand("delete"));
await until("a deletion of a phone", value, "日本égeheim ä€");
await view.keyboard.type(" ok");
await view.keyboard.press("Backspace");
await until("keys", value, "日本égeheim ä€ o");

// The list of a select element.
await click(100, 120);
await view.locator("#list button", { hasText: "Green" }).click();
await until("an option", () => page.evaluate(() => document.getElementById("list").value), "Green");

// A dialog of the page.
await click(100, 200);
await view.locator("#message", { hasText: "Your name?" }).waitFor();
await view.locator("#answer").fill("Eve");
await view.locator("#accept").click();
await until("a dialog", () => page.title(), "said Eve");
await view.locator("#cover").waitFor({ state: "hidden" });

// A file of the viewer.
await click(60, 280);
await view.locator("#chooser").waitFor();
await view.locator("#files").setInputFiles({ name: "birds.txt", mimeType: "text/plain", buffer: Buffer.from("gannets") });
await until("a file", () => page.title(), "birds.txt gannets");

// A phone: nothing is wider than the screen, a tap clicks, a finger scrolls.
await view.setViewportSize({ width: 360, height: 640 });
await until("the width of a phone", () => view.evaluate(() => document.documentElement.scrollWidth), 360);
await page.evaluate(() => document.activeElement.blur());
const [x, y] = await at(100, 40);
await keyboard.send("Emulation.setTouchEmulationEnabled", { enabled: true });
await keyboard.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
await keyboard.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
await until("a tap", focused, "text");
await keyboard.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y: y + 100 }] });
for (let step = 1; step <= 8; step++) await keyboard.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [{ x, y: y + 100 - 10 * step }] });
await keyboard.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
await until("a finger that scrolls", () => page.evaluate(() => scrollY > 100), true);
if (process.env.PICTURE) await view.screenshot({ path: process.env.PICTURE });
await session.close();
await viewer.close();
console.log("all passed");
process.exit(0);
