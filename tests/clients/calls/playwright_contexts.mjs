// What a user sets around pages: contexts, permissions, emulation, storage, workers, measures.

import assert from "node:assert/strict";

/** A page in a context with options. */
const withContext = (options, work) => async ({ browser, site }) => {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    await page.goto(`${site}/`);
    await work(page, context, site);
  } finally {
    await context.close();
  }
};

export const contexts = {
  "browser.contexts, version, isConnected": async ({ browser, context }) => {
    assert.ok(browser.contexts().includes(context) && browser.isConnected());
    assert.match(browser.version(), /^\d+\./);
    assert.ok(browser.contexts()[0].pages().length >= 1);
  },
  "contexts share nothing": async ({ browser, context, page, site }) => {
    await page.goto(`${site}/cookie`);
    const other = await browser.newContext();
    assert.deepEqual([(await context.cookies()).length, (await other.cookies()).length], [1, 0]);
    await other.close();
  },
  "addCookies, cookies, clearCookies": async ({ context, page, site }) => {
    await context.addCookies([{ name: "a", value: "1", url: site }, { name: "b", value: "2", url: site, httpOnly: true }]);
    await page.goto(`${site}/`);
    assert.equal(await page.evaluate(() => document.cookie), "a=1");
    await context.clearCookies({ name: "a" });
    assert.deepEqual((await context.cookies(site)).map(one => one.name), ["b"]);
  },
  "storageState": async ({ browser, context, page, site }) => {
    await page.goto(`${site}/cookie`);
    await page.evaluate(async () => {
      localStorage.setItem("cart", "3");
      await new Promise(done => { const asked = indexedDB.open("shop", 1); asked.onupgradeneeded = () => asked.result.createObjectStore("birds").put("gannet", 1); asked.onsuccess = done; });
    });
    const storageState = await context.storageState({ indexedDB: true });
    const later = await browser.newContext({ storageState });
    const second = await later.newPage();
    await second.goto(`${site}/`);
    const found = await second.evaluate(() => new Promise(done => {
      const asked = indexedDB.open("shop");
      asked.onsuccess = () => { const got = asked.result.transaction("birds").objectStore("birds").get(1); got.onsuccess = () => done([document.cookie, localStorage.cart, got.result]); };
    }));
    assert.deepEqual(found, ["visit=1", "3", "gannet"]);
    await later.close();
  },
  "viewport, device scale and touch": withContext({ viewport: { width: 400, height: 300 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }, async page => {
    assert.deepEqual(await page.evaluate(() => [innerWidth > 0, devicePixelRatio, navigator.maxTouchPoints > 0]), [true, 2, true]);
    await page.setViewportSize({ width: 500, height: 400 });
    assert.deepEqual(page.viewportSize(), { width: 500, height: 400 });
  }),
  "userAgent": withContext({ userAgent: "Bird/1.0" }, async (page, _, site) => {
    assert.equal(await page.evaluate(() => navigator.userAgent), "Bird/1.0");
    await page.goto(`${site}/echo`);
    assert.equal(JSON.parse(await page.innerText("body")).headers["user-agent"], "Bird/1.0");
  }),
  "locale and time zone": withContext({ locale: "de-DE", timezoneId: "Asia/Tokyo" }, async page => {
    assert.deepEqual(await page.evaluate(() => [navigator.language, (1234.5).toLocaleString(), new Date(0).getHours()]), ["de-DE", "1.234,5", 9]);
  }),
  "geolocation": withContext({ geolocation: { latitude: 47.5, longitude: 19 }, permissions: ["geolocation"] }, async (page, context) => {
    const where = () => page.evaluate(() => new Promise((done, failed) => navigator.geolocation.getCurrentPosition(p => done(p.coords.latitude), failed)));
    assert.equal(await where(), 47.5);
    await context.setGeolocation({ latitude: 1, longitude: 2 });
    assert.equal(await where(), 1);
  }),
  "permissions are granted and cleared": withContext({}, async (page, context, site) => {
    const state = name => page.evaluate(name => navigator.permissions.query({ name }).then(one => one.state), name);
    await context.grantPermissions(["geolocation", "notifications"], { origin: site });
    assert.equal(await state("geolocation"), "granted");
    await context.clearPermissions();
    assert.notEqual(await state("geolocation"), "granted");
  }),
  "clipboard": withContext({ permissions: ["clipboard-read", "clipboard-write"] }, async page => {
    await page.evaluate(() => navigator.clipboard.writeText("a gannet"));
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "a gannet");
  }),
  "emulateMedia": withContext({ colorScheme: "dark", reducedMotion: "reduce" }, async page => {
    const is = query => page.evaluate(query => matchMedia(query).matches, query);
    assert.ok(await is("(prefers-color-scheme: dark)") && await is("(prefers-reduced-motion: reduce)"));
    await page.emulateMedia({ media: "print", colorScheme: "light" });
    assert.ok(await is("print") && await is("(prefers-color-scheme: light)"));
  }),
  "JavaScript switched off": async ({ browser, site }) => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${site}/`);
    await page.locator("#buy").click();
    assert.equal(await page.textContent("#out"), "");
    await context.close();
  },
  "bypassCSP and baseURL": async ({ browser, site }) => {
    const context = await browser.newContext({ bypassCSP: true, baseURL: site });
    const page = await context.newPage();
    await page.goto("/about");
    assert.equal(await page.title(), "About us");
    await context.close();
  },
  "workers": async ({ page, site }) => {
    const [worker] = await Promise.all([page.waitForEvent("worker"), page.goto(`${site}/worker`)]);
    assert.equal(await worker.evaluate(() => self.twice(21)), 42);
    await page.evaluate(() => worker.postMessage("hi"));
    await page.waitForFunction(() => document.title === "got hi");
    assert.equal(page.workers().length, 1);
  },
  "service workers": async ({ context, page, site }) => {
    const seen = context.waitForEvent("serviceworker");
    await page.goto(`${site}/service`);
    assert.match((await seen).url(), /service\.js$/);
    await page.evaluate("ready");
    await page.waitForFunction(() => navigator.serviceWorker.controller);
    assert.equal(await page.evaluate(() => fetch("/from-service").then(r => r.text())), "by the service worker");
  },
  "coverage of scripts and styles": async ({ page, site }) => {
    await Promise.all([page.coverage.startJSCoverage(), page.coverage.startCSSCoverage()]);
    await page.goto(`${site}/covered`);
    const [scripts, styles] = await Promise.all([page.coverage.stopJSCoverage(), page.coverage.stopCSSCoverage()]);
    assert.ok(scripts.find(one => one.url.endsWith("covered.js")).functions.some(one => one.functionName === "unused" && one.ranges[0].count === 0));
    assert.equal(styles[0].ranges.length, 1);
  },
  "page.bringToFront, close, isClosed": async ({ context, page, site }) => {
    const second = await context.newPage();
    await second.goto(`${site}/about`);
    await page.bringToFront();
    await second.close();
    assert.deepEqual([second.isClosed(), context.pages().length], [true, 1]);
  },
  "the default context": async ({ browser, site }) => {
    const page = browser.contexts()[0].pages()[0];
    await page.goto(`${site}/`);
    await page.locator("#buy").click();
    assert.equal(await page.textContent("#out"), "bought 1");
  },
  "a crashed page is told": async ({ context }) => {
    const page = await context.newPage();
    const crashed = page.waitForEvent("crash");
    const session = await context.newCDPSession(page);
    session.send("Page.crash").catch(() => {});
    await crashed;
  },
  "page.requestGC and metrics": async ({ context, page, site }) => {
    await page.goto(`${site}/`);
    await page.requestGC();
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable");
    assert.ok((await session.send("Performance.getMetrics")).metrics.length > 10);
  },
};
