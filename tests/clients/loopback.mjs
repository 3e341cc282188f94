// A page in a session must not reach the server that runs it, nor anything else on its machine. SERVER_URL is that server.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const { CDP_URL, SERVER_URL } = process.env;
const { port } = new URL(SERVER_URL);
const browser = await chromium.connectOverCDP(CDP_URL);
const context = browser.contexts()[0];
const page = context.pages()[0];
// Where nothing is loaded, a failed navigation cannot get into the way.
const other = await context.newPage();
for (const host of ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "2130706433", "0x7f000001", "localhost.", "[::ffff:127.0.0.1]"]) {
  for (const path of ["/health", "/metrics", "/v2/browser"]) {
    const response = await page.goto(`http://${host}:${port}${path}`).catch(() => null);
    const text = response ? await response.text() : "";
    assert.ok(text === "" || text === "not fetched", `${host}${path}: ${text.slice(0, 200)}`);
  }
  await assert.rejects(page.goto(`https://${host}:${port}/`), host);
  const opened = await other.evaluate(url => new Promise(done => {
    const socket = new WebSocket(url);
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
  }), `ws://${host}:${port}/`);
  assert.equal(opened, "refused", host);
}
await browser.close();
console.log("all passed");
