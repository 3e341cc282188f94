// What a user does in a page: find, press, type, read, look.

import assert from "node:assert/strict";

const log = (page, kind) => page.locator("#log").getAttribute(`data-${kind}`);

export const pages = {
  "page.goto, title, url": async ({ page, site }) => {
    const response = await page.goto(`${site}/redirect`);
    assert.deepEqual([response.status(), page.url(), await page.title()], [200, `${site}/about`, "About us"]);
  },
  "page.goBack, goForward, reload": async ({ page, site }) => {
    await page.goto(`${site}/`);
    await page.goto(`${site}/about`);
    await page.goBack();
    assert.equal(await page.title(), "Bird Shop");
    await page.goForward();
    await page.reload();
    assert.equal(await page.title(), "About us");
  },
  "locator.click": async ({ page, site }) => {
    await page.goto(`${site}/`);
    await page.locator("#buy").click();
    await page.locator("#buy").click({ clickCount: 2 });
    assert.equal(await page.textContent("#out"), "bought 3");
  },
  "locator.dblclick": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    await page.locator("#send").locator("xpath=../..").locator("#log").evaluate(node => { node.textContent = "here"; });
    await page.locator("#log").dblclick();
    assert.equal(await log(page, "dblclick"), "log");
  },
  "click with the right button": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    await page.locator("#name").click({ button: "right" });
    assert.equal(await log(page, "contextmenu"), "name");
  },
  "locator.hover": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    await page.locator("#notes").hover();
    assert.equal(await log(page, "mouseover"), "notes");
  },
  "locator.tap": async ({ browser, site }) => {
    const context = await browser.newContext({ hasTouch: true });
    const page = await context.newPage();
    await page.goto(`${site}/form`);
    await page.locator("#name").tap();
    assert.equal(await log(page, "touchstart"), "name");
    await context.close();
  },
  "locator.fill, inputValue, clear": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    await page.getByLabel("Name").fill("Ann Ö 漢");
    assert.equal(await page.getByPlaceholder("Your name").inputValue(), "Ann Ö 漢");
    await page.getByLabel("Name").clear();
    assert.equal(await page.locator("#name").inputValue(), "");
  },
  "locator.pressSequentially and press": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    await page.locator("#name").pressSequentially("tern");
    await page.locator("#name").press("Home");
    await page.keyboard.type("a ");
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText("puffin");
    assert.equal(await page.locator("#name").inputValue(), "puffin");
  },
  "locator.check, uncheck, setChecked, isChecked": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    await page.getByLabel("I agree").check();
    assert.ok(await page.locator("#agree").isChecked());
    await page.locator("#agree").uncheck();
    await page.getByLabel("Cash").setChecked(true);
    assert.deepEqual([await page.locator("#agree").isChecked(), await page.getByLabel("Cash").isChecked()], [false, true]);
  },
  "locator.selectOption": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    assert.deepEqual(await page.locator("#size").selectOption({ label: "Medium" }), ["m"]);
    assert.deepEqual(await page.locator("#extras").selectOption(["bag", "ribbon"]), ["bag", "ribbon"]);
  },
  "a form is sent": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    await page.getByLabel("Name").fill("Ann");
    await Promise.all([page.waitForURL("**/sent"), page.getByRole("button", { name: "Send" }).click()]);
    assert.match(await page.textContent("pre"), /name=Ann/);
  },
  "locator.focus, blur": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    await page.locator("#name").focus();
    assert.equal(await page.evaluate(() => document.activeElement.id), "name");
    await page.locator("#name").blur();
    assert.equal(await page.evaluate(() => document.activeElement.id), "");
  },
  "locator.dragTo": async ({ page, site }) => {
    await page.goto(`${site}/drag`);
    await page.locator("#from").dragTo(page.locator("#to"));
    assert.equal(await page.textContent("#to"), "bird");
  },
  "mouse.move, down, up, wheel": async ({ page, site }) => {
    await page.goto(`${site}/tall`);
    await page.mouse.move(100, 100);
    await page.mouse.down();
    await page.mouse.up();
    await page.mouse.wheel(0, 800);
    await page.waitForFunction(() => scrollY > 100);
  },
  "locator.scrollIntoViewIfNeeded, boundingBox": async ({ page, site }) => {
    await page.goto(`${site}/tall`);
    await page.locator("#end").scrollIntoViewIfNeeded();
    const box = await page.locator("#end").boundingBox();
    assert.ok(box.y < page.viewportSize().height && box.width > 0, JSON.stringify(box));
  },
  "getByRole, getByText, getByAltText, getByTestId": async ({ page, site }) => {
    await page.goto(`${site}/`);
    assert.equal(await page.getByRole("listitem").count(), 3);
    assert.equal(await page.getByText("puffin").innerText(), "puffin");
    assert.ok(await page.getByAltText("A gannet in flight").isVisible());
    await page.goto(`${site}/form`);
    assert.ok(await page.getByTestId("late").isHidden());
  },
  "locator.filter, nth, first, last, all": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const birds = page.locator("li");
    assert.equal(await birds.filter({ hasText: "uff" }).textContent(), "puffin");
    assert.deepEqual([await birds.first().innerText(), await birds.nth(1).innerText(), await birds.last().innerText()], ["tern", "puffin", "gannet"]);
    assert.equal((await birds.all()).length, 3);
    assert.deepEqual(await birds.allInnerTexts(), ["tern", "puffin", "gannet"]);
  },
  "locator.waitFor": async ({ page, site }) => {
    await page.goto(`${site}/form`);
    setTimeout(() => page.evaluate("late.hidden = false").catch(() => {}), 200);
    await page.locator("#late").waitFor({ state: "visible" });
    assert.equal(await page.locator("#off").isDisabled(), true);
  },
  "page.evaluate, evaluateHandle, $$eval": async ({ page, site }) => {
    await page.goto(`${site}/`);
    assert.deepEqual(await page.evaluate(([a, b]) => ({ sum: a + b, when: new Date(0), big: 10n }), [1, 2]), { sum: 3, when: new Date(0), big: 10n });
    const handle = await page.evaluateHandle(() => document.querySelector("h1"));
    assert.equal(await handle.evaluate(node => node.textContent), "Bird Shop");
    assert.equal(await page.$$eval("li", all => all.length), 3);
  },
  "page.exposeFunction, exposeBinding": async ({ page, site }) => {
    await page.exposeFunction("twice", n => 2 * n);
    await page.exposeBinding("where", ({ frame }) => frame.url());
    await page.goto(`${site}/`);
    assert.deepEqual(await page.evaluate(async () => [await twice(4), await where()]), [8, `${site}/`]);
  },
  "page.addInitScript, addScriptTag, addStyleTag": async ({ page, site }) => {
    await page.addInitScript(() => { window.early = "yes"; });
    await page.goto(`${site}/`);
    await page.addScriptTag({ content: "window.added = early" });
    await page.addStyleTag({ content: "h1 { color: rgb(9, 8, 7) }" });
    assert.deepEqual(await page.evaluate(() => [added, getComputedStyle(document.querySelector("h1")).color]), ["yes", "rgb(9, 8, 7)"]);
  },
  "page.screenshot": async ({ page, site }) => {
    await page.goto(`${site}/tall`);
    const png = await page.screenshot(), whole = await page.screenshot({ fullPage: true, type: "jpeg", quality: 30 });
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    assert.ok(whole.length > 1000 && whole[0] === 0xff);
    assert.ok((await page.locator("#end").screenshot()).length > 100);
  },
  "page.pdf": async ({ page, site }) => {
    await page.goto(`${site}/`);
    assert.equal((await page.pdf({ format: "A4" })).subarray(0, 5).toString(), "%PDF-");
  },
  "locator.ariaSnapshot": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const seen = await page.locator("body").ariaSnapshot();
    assert.match(seen, /heading "Bird Shop" \[level=1\]/);
    assert.match(seen, /listitem: puffin/);
  },
  "dialogs: alert, confirm, prompt, beforeunload": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const seen = [];
    page.on("dialog", dialog => { seen.push(`${dialog.type()} ${dialog.message()}`); dialog.accept("Ann"); });
    assert.deepEqual(await page.evaluate(() => [alert("a"), confirm("b"), prompt("c")]), [null, true, "Ann"].map(x => x ?? undefined));
    await page.evaluate(() => { onbeforeunload = event => event.preventDefault(); });
    await page.locator("#buy").click();
    await page.goto(`${site}/about`);
    assert.deepEqual(seen.slice(0, 3), ["alert a", "confirm b", "prompt c"]);
    assert.match(seen[3], /^beforeunload/);
  },
  "popups": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const [popup] = await Promise.all([page.waitForEvent("popup"), page.evaluate(() => { open("/about"); })]);
    await popup.waitForLoadState();
    assert.equal(await popup.title(), "About us");
    assert.equal(await popup.opener(), page);
    await popup.close();
  },
  "frames, near and far": async ({ page, site }) => {
    await page.goto(`${site}/frames`);
    for (const name of ["near", "far"]) {
      const frame = page.frameLocator(`[name=${name}]`);
      await frame.getByRole("button", { name: "Press" }).click();
      assert.equal(await frame.locator("#text").textContent(), "pressed");
      assert.match(page.frame({ name }).url(), /inner$/);
    }
    assert.equal(page.frames().length, 3);
  },
  "file chooser and setInputFiles": async ({ page, site }) => {
    await page.goto(`${site}/upload`);
    const file = { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("one") };
    await page.setInputFiles("#file", [file, { ...file, name: "b.txt" }]);
    await page.waitForFunction(() => out.textContent === "a.txt:one,b.txt:one");
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.locator("#file").click()]);
    await chooser.setFiles(file);
    await page.waitForFunction(() => out.textContent === "a.txt:one");
  },
  "setInputFiles from a file of the client": async ({ page, site }) => {
    await page.goto(`${site}/upload`);
    await page.setInputFiles("#file", new URL("table.mjs", import.meta.url).pathname);
    await page.waitForFunction(() => out.textContent.startsWith("table.mjs:// Runs a table"));
  },
  "console messages and page errors": async ({ page, site }) => {
    await page.goto(`${site}/`);
    const [message] = await Promise.all([page.waitForEvent("console"), page.evaluate(() => console.warn("low", { n: 1 }))]);
    assert.deepEqual([message.type(), message.text()], ["warning", "low {n: 1}"]);
    assert.deepEqual(await message.args()[1].jsonValue(), { n: 1 });
    const [error] = await Promise.all([page.waitForEvent("pageerror"), page.evaluate(() => { setTimeout(() => { throw new Error("boom"); }, 0); })]);
    assert.equal(error.message, "boom");
  },
  "page.clock": async ({ page, site }) => {
    await page.clock.install({ time: new Date("2030-01-01T10:00:00") });
    await page.goto(`${site}/`);
    await page.evaluate(() => { setTimeout(() => { document.title = "late"; }, 3_600_000); });
    await page.clock.fastForward("01:00:01");
    assert.equal(await page.title(), "late");
  },
  "page.setContent, content, waitForLoadState": async ({ page, site }) => {
    await page.setContent(`<h1>Own</h1><img src="${site}/bird.svg">`, { waitUntil: "load" });
    await page.waitForLoadState("networkidle");
    assert.match(await page.content(), /<h1>Own<\/h1>/);
  },
};
