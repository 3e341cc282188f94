// What a user does with requests: watch, change, mock, record.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "calls-"));
  try { await work(folder); } finally { rmSync(folder, { recursive: true }); }
}

export const network = {
  "route.fulfill": async ({ page, site }) => {
    await page.route("**/data.json", route => route.fulfill({ json: { birds: [] } }));
    await page.goto(`${site}/`);
    assert.deepEqual(await page.evaluate(() => fetch("/data.json").then(r => r.json())), { birds: [] });
  },
  "route.abort and unroute": async ({ page, site }) => {
    await page.route("**/*.svg", route => route.abort());
    await page.goto(`${site}/`);
    assert.equal(await page.getByAltText("A gannet in flight").evaluate(node => node.naturalWidth), 0);
    await page.unroute("**/*.svg");
    await page.reload();
    assert.equal(await page.getByAltText("A gannet in flight").evaluate(node => node.naturalWidth), 40);
  },
  "route.continue with other headers, method and body": async ({ page, site }) => {
    await page.route("**/echo", route => route.continue({ method: "POST", postData: "changed", headers: { ...route.request().headers(), "x-own": "1" } }));
    await page.goto(`${site}/`);
    const seen = await page.evaluate(() => fetch("/echo").then(r => r.json()));
    assert.deepEqual([seen.method, seen.body, seen.headers["x-own"]], ["POST", "changed", "1"]);
  },
  "route.fetch": async ({ page, site }) => {
    await page.route("**/about", async route => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace("1999", "1899") });
    });
    await page.goto(`${site}/about`);
    assert.match(await page.textContent("p"), /1899/);
  },
  "context.route": async ({ context, page, site }) => {
    await context.route("**/about", route => route.fulfill({ body: "<title>Mock</title>", contentType: "text/html" }));
    await page.goto(`${site}/about`);
    assert.equal(await page.title(), "Mock");
  },
  "waitForRequest, waitForResponse": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const [request, response] = await Promise.all([page.waitForRequest("**/data.json"), page.waitForResponse("**/data.json"), page.evaluate(() => { fetch("/data.json"); })]);
    assert.deepEqual([request.method(), request.resourceType(), response.ok()], ["GET", "fetch", true]);
    assert.deepEqual((await response.json()).birds, ["gannet", "tern"]);
  },
  "response.headers, body, timing, server address": async ({ page, site }) => {
    const response = await page.goto(`${site}/cookie`);
    assert.match((await response.allHeaders())["set-cookie"], /visit=1/);
    assert.match(await response.text(), /Cookie/);
    assert.ok(response.request().timing().responseEnd > 0);
    assert.ok((await response.request().sizes()).responseBodySize > 0);
  },
  "failed requests": async ({ page, site }) => {
    await page.goto(`${site}/`);
    await page.route("**/gone", route => route.abort("connectionrefused"));
    const [failed] = await Promise.all([page.waitForEvent("requestfailed"), page.evaluate(() => { fetch("/gone").catch(() => {}); })]);
    assert.match(failed.failure().errorText, /ERR_CONNECTION_REFUSED/);
  },
  "setExtraHTTPHeaders": async ({ page, site }) => {
    await page.setExtraHTTPHeaders({ "x-bird": "gannet" });
    await page.goto(`${site}/echo`);
    assert.equal(JSON.parse(await page.innerText("body")).headers["x-bird"], "gannet");
  },
  "httpCredentials": async ({ browser, site }) => {
    const context = await browser.newContext({ httpCredentials: { username: "ann", password: "secret" } });
    const page = await context.newPage();
    await page.goto(`${site}/login`);
    assert.equal(await page.title(), "Welcome");
    await context.close();
  },
  "setOffline": async ({ context, page, site }) => {
    await page.goto(`${site}/`);
    await context.setOffline(true);
    assert.equal(await page.evaluate(() => navigator.onLine), false);
    await assert.rejects(page.goto(`${site}/about`), /ERR_INTERNET_DISCONNECTED/);
    await context.setOffline(false);
    await page.goto(`${site}/about`);
  },
  "WebSocket events": async ({ page, site }) => {
    const [socket] = await Promise.all([page.waitForEvent("websocket"), page.goto(`${site}/socket-page`)]);
    await page.waitForFunction(() => out.textContent === "echo hello");
    assert.match(socket.url(), /socket$/);
  },
  "routeWebSocket": async ({ page, site }) => {
    await page.routeWebSocket("**/socket", socket => socket.onMessage(message => socket.send(`mock ${message}`)));
    await page.goto(`${site}/socket-page`);
    await page.waitForFunction(() => out.textContent === "mock hello");
  },
  "downloads": async ({ page, site }) => {
    await page.goto(`${site}/download`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#get").click()]);
    assert.deepEqual([download.suggestedFilename(), download.url()], ["birds.txt", `${site}/file.txt`]);
    assert.equal(await download.failure(), null);
  },
  "HAR: recorded and played back": async ({ browser, site }) => inFolder(async folder => {
    const path = join(folder, "a.har");
    const recording = await browser.newContext({ recordHar: { path, content: "embed" } });
    await (await recording.newPage()).goto(`${site}/about`);
    await recording.close();
    assert.match(readFileSync(path, "utf8"), /Since 1999/);
    const playing = await browser.newContext();
    await playing.routeFromHAR(path);
    const page = await playing.newPage();
    await page.goto(`${site}/about`);
    assert.equal(await page.title(), "About us");
    await playing.close();
  }),
  "tracing": async ({ context, page, site }) => inFolder(async folder => {
    await context.tracing.start({ screenshots: true, snapshots: true });
    await page.goto(`${site}/`);
    await page.locator("#buy").click();
    await context.tracing.stop({ path: join(folder, "trace.zip") });
    assert.ok(readFileSync(join(folder, "trace.zip")).length > 1000);
  }),
  "page.request and context.request": async ({ context, page, site }) => {
    await page.goto(`${site}/cookie`);
    const seen = await (await page.request.get(`${site}/echo`)).json();
    assert.match(seen.headers.cookie, /visit=1/);
    assert.ok((await context.request.post(`${site}/echo`, { data: { a: 1 } })).ok());
  },
  "newCDPSession": async ({ browser, context, page, site }) => {
    await page.goto(`${site}/`);
    const session = await context.newCDPSession(page);
    assert.equal((await session.send("Runtime.evaluate", { expression: "document.title" })).result.value, "Bird Shop");
    await session.detach();
    const whole = await browser.newBrowserCDPSession();
    assert.match((await whole.send("Browser.getVersion")).product, /Chrom/);
  },
};
