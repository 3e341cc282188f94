// What a user of puppeteer-core does around a page: dialogs, frames, requests, contexts, emulation, workers.

import assert from "node:assert/strict";

export const around = {
  "dialogs": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const seen = [];
    page.on("dialog", dialog => { seen.push(`${dialog.type()} ${dialog.message()}`); dialog.accept("Ann"); });
    assert.deepEqual(await page.evaluate(() => [confirm("b"), prompt("c")]), [true, "Ann"]);
    assert.deepEqual(seen, ["confirm b", "prompt c"]);
  },
  "popups": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const opened = new Promise(done => page.once("popup", done));
    await page.evaluate(() => { open("/about"); });
    const popup = await opened;
    await popup.waitForSelector("h1");
    assert.equal(await popup.title(), "About us");
    await popup.close();
  },
  "frames, near and far": async ({ page, site }) => {
    await page.goto(`${site}/frames`, { waitUntil: "networkidle0" });
    for (const name of ["near", "far"]) {
      const frame = await (await page.waitForSelector(`[name=${name}]`)).contentFrame();
      await (await frame.waitForSelector("button")).click();
      assert.equal(await frame.$eval("#text", node => node.textContent), "pressed");
    }
    assert.equal(page.frames().length, 3);
  },
  "console messages and page errors": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const message = new Promise(done => page.once("console", done)), error = new Promise(done => page.once("pageerror", done));
    await page.evaluate(() => { console.warn("low"); setTimeout(() => { throw new Error("boom"); }, 0); });
    assert.equal((await message).text(), "low");
    assert.match((await error).message, /boom/);
  },
  "request interception: respond, abort, continue": async ({ page, site }) => {
    await page.setRequestInterception(true);
    page.on("request", request => {
      if (request.url().endsWith(".svg")) request.abort();
      else if (request.url().endsWith("/data.json")) request.respond({ contentType: "application/json", body: "{\"birds\":[]}" });
      else request.continue({ headers: { ...request.headers(), "x-own": "1" } });
    });
    await page.goto(`${site}/`);
    const seen = await page.evaluate(async () => [await (await fetch("/data.json")).json(), (await (await fetch("/echo")).json()).headers["x-own"]]);
    assert.deepEqual(seen, [{ birds: [] }, "1"]);
  },
  "waitForRequest, waitForResponse": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const [request, response] = await Promise.all([page.waitForRequest(r => r.url().endsWith("data.json")), page.waitForResponse(r => r.url().endsWith("data.json")),
      page.evaluate(() => { fetch("/data.json"); })]);
    assert.equal(request.resourceType(), "fetch");
    assert.deepEqual((await response.json()).birds, ["gannet", "tern"]);
  },
  "setExtraHTTPHeaders, setUserAgent": async ({ page, site }) => {
    await page.setExtraHTTPHeaders({ "x-bird": "gannet" });
    await page.setUserAgent({ userAgent: "Bird/1.0" });
    await page.goto(`${site}/echo`);
    const { headers } = JSON.parse(await page.evaluate(() => document.body.innerText));
    assert.deepEqual([headers["x-bird"], headers["user-agent"]], ["gannet", "Bird/1.0"]);
  },
  "authenticate": async ({ page, site }) => {
    await page.authenticate({ username: "ann", password: "secret" });
    await page.goto(`${site}/login`);
    assert.equal(await page.title(), "Welcome");
  },
  "setOfflineMode, setCacheEnabled": async ({ page, site }) => {
    await page.goto(`${site}/`);
    await page.setCacheEnabled(false);
    await page.setOfflineMode(true);
    await assert.rejects(page.goto(`${site}/about`), /ERR_INTERNET_DISCONNECTED/);
  },
  "cookies": async ({ context, page, site }) => {
    await page.goto(`${site}/cookie`);
    await context.setCookie({ name: "a", value: "1", domain: "127.0.0.1" });
    assert.deepEqual((await context.cookies()).map(one => one.name).sort(), ["a", "visit"]);
    await context.deleteCookie(...await context.cookies());
    assert.deepEqual(await context.cookies(), []);
  },
  "setViewport, emulate": async ({ page, site }) => {
    await page.setViewport({ width: 400, height: 300, deviceScaleFactor: 2 });
    await page.goto(`${site}/`);
    assert.deepEqual(await page.evaluate(() => [innerWidth, innerHeight, devicePixelRatio]), [400, 300, 2]);
  },
  "emulateMediaType, media features, time zone": async ({ page, site }) => {
    await page.goto(`${site}/`);
    await page.emulateMediaType("print");
    assert.ok(await page.evaluate(() => matchMedia("print").matches));
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await page.emulateTimezone("Asia/Tokyo");
    assert.deepEqual(await page.evaluate(() => [matchMedia("(prefers-color-scheme: dark)").matches, new Date(0).getHours()]), [true, 9]);
  },
  "geolocation and permissions": async ({ context, page, site }) => {
    await context.overridePermissions(site, ["geolocation"]);
    await page.goto(`${site}/`);
    await page.setGeolocation({ latitude: 47.5, longitude: 19 });
    assert.equal(await page.evaluate(() => new Promise((done, no) => navigator.geolocation.getCurrentPosition(p => done(p.coords.latitude), no))), 47.5);
  },
  "workers": async ({ page, site }) => {
    const made = new Promise(done => page.once("workercreated", done));
    await page.goto(`${site}/worker`);
    assert.equal(await (await made).evaluate(() => self.twice(21)), 42);
  },
  "coverage and metrics": async ({ page, site }) => {
    await page.coverage.startJSCoverage();
    await page.goto(`${site}/covered`);
    assert.ok((await page.coverage.stopJSCoverage()).some(one => one.url.endsWith("covered.js")));
    assert.ok((await page.metrics()).Nodes > 1);
  },
  "createCDPSession and tracing": async ({ page, site }) => {
    await page.tracing.start();
    await page.goto(`${site}/`);
    assert.ok((await page.tracing.stop()).length > 1000);
    const session = await page.createCDPSession();
    assert.equal((await session.send("Runtime.evaluate", { expression: "6 * 7" })).result.value, 42);
  },
  "file chooser": async ({ page, site }) => {
    await page.goto(`${site}/upload`);
    const [chooser] = await Promise.all([page.waitForFileChooser(), page.click("#file")]);
    assert.ok(chooser.isMultiple());
    await chooser.cancel();
  },
  "browser.pages, targets, version, contexts": async ({ browser, context, page }) => {
    assert.ok((await browser.pages()).length >= 1 && browser.targets().length >= 2);
    assert.match(await browser.version(), /Chrome/);
    assert.ok(browser.browserContexts().includes(context));
    assert.equal(page.browserContext(), context);
  },
  "browser.waitForTarget, target.page": async ({ browser, page, site }) => {
    await page.goto(`${site}/`);
    await page.evaluate(() => { open("/about"); });
    const target = await browser.waitForTarget(one => one.url().endsWith("/about"));
    assert.ok(await target.page());
  },
};
