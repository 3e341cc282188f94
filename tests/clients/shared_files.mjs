// Files of a Playwright and a Puppeteer at `cdpUrl`: on the machine of the server through the folder that both share (TMPDIR
// lies in it), and from elsewhere over HTTP.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";

const { CDP_URL, SITE_URL, TMPDIR, SHARED } = process.env;
const browser = await chromium.connectOverCDP(CDP_URL);
const page = browser.contexts()[0].pages()[0];
await page.goto(`${SITE_URL}/article`);
await page.evaluate(() => {
  document.body.innerHTML = "<a id=get download=birds.txt href=data:text/plain,gannets>Get</a><input type=file id=file>";
});
const [download] = await Promise.all([page.waitForEvent("download"), page.click("#get")]);
if (SHARED) {
  assert.equal(readFileSync(await download.path(), "utf8"), "gannets");
  const saved = join(mkdtempSync(join(TMPDIR, "saved-")), "birds.txt");
  await download.saveAs(saved);
  assert.equal(readFileSync(saved, "utf8"), "gannets");
} else {
  await assert.rejects(download.saveAs("/tmp/never-written.txt"));
}

// What the page has been given, by name and content.
const given = () => page.evaluate(async () => { const [file] = document.getElementById("file").files; return file && `${file.name} ${await file.text()}`; });
const other = await puppeteer.connect({ browserWSEndpoint: CDP_URL, defaultViewport: null });
const same = (await other.pages()).find(one => one.url().startsWith(SITE_URL));
const field = await same.$("#file");
if (SHARED) {
  const path = join(TMPDIR, "own.txt");
  writeFileSync(path, "own file");
  await field.uploadFile(path);
  assert.equal(await given(), "own.txt own file");
}
await assert.rejects(field.uploadFile("/etc/hostname"), /not a file of this session/);
const address = name => CDP_URL.replace(/^ws/, "http").replace("?", `/files/${name}?`);
const sent = await fetch(address("r%C3%A9sum%C3%A9.txt"), { method: "PUT", body: "sent file" });
assert.equal(sent.status, 200, await sent.clone().text());
await field.uploadFile((await sent.json()).path);
assert.equal(await given(), "résumé.txt sent file");
for (const name of ["..", "a%2Fb", "%0A"]) {
  const refused = await fetch(address(name), { method: "PUT", body: "x" });
  assert.ok([400, 404, 405].includes(refused.status), `${name}: ${refused.status}`);
}
const forged = await fetch(address("a.txt").replace(/token=.{8}/, "token=AAAAAAAA"), { method: "PUT", body: "x" });
assert.equal(forged.status, 404);
console.log("all passed");
process.exit(0);
