// Documented commands of agent-browser, the unmodified program, at `cdpUrl`. Each line is a process of its own; a daemon in
// a folder of its own keeps the connection between them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCalls } from "./table.mjs";

const { CDP_URL, SITE_URL: site } = process.env;
const folder = mkdtempSync(join(tmpdir(), "agent-browser-"));
const program = new URL("../node_modules/agent-browser/bin/agent-browser.js", import.meta.url).pathname;
const env = { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, AGENT_BROWSER_SOCKET_DIR: folder };

/** Runs a command; what it printed. A command that fails is an error. */
const run = (...words) => new Promise((done, failed) => {
  execFile(process.execPath, [program, "--cdp", CDP_URL, ...words], { env, cwd: folder, timeout: 15_000 }, (error, stdout, stderr) => {
    if (error) failed(new Error(`${words.join(" ")}: ${stdout}${stderr}${error.code ?? error.signal}`));
    else done(stdout.trim());
  });
});
const fails = async (...words) => assert.rejects(run(...words));
const says = async (wanted, ...words) => {
  const said = await run(...words);
  if (wanted instanceof RegExp) assert.match(said, wanted);
  else assert.equal(said, wanted, words.join(" "));
};
/** Opens a page, then checks lines in order: what each says, or undefined. */
const at = (path, ...lines) => async () => {
  await run("open", `${site}${path}`);
  for (const [wanted, ...words] of lines) await (wanted === undefined ? run(...words) : says(wanted, ...words));
};

const calls = {
  "open": async () => says(/Bird Shop/, "open", `${site}/`),
  "get title": at("/", ["Bird Shop", "get", "title"]),
  "get url": at("/about", [`${site}/about`, "get", "url"]),
  "get text": at("/", ["Bird Shop", "get", "text", "h1"]),
  "get html": at("/", [/24\.99/, "get", "html", ".price"]),
  "get value, fill": at("/form", [undefined, "fill", "#name", "Ann"], ["Ann", "get", "value", "#name"]),
  "get attr": at("/form", ["Your name", "get", "attr", "#name", "placeholder"]),
  "get count": at("/", ["3", "get", "count", "li"]),
  "get box": at("/", [/width/, "get", "box", "#buy"]),
  "click": at("/", [undefined, "click", "#buy"], ["bought 1", "get", "text", "#out"]),
  "dblclick": at("/form", [undefined, "dblclick", "#name"], ["name", "get", "attr", "#log", "data-dblclick"]),
  "type": at("/form", [undefined, "type", "#name", "tern"], ["tern", "get", "value", "#name"]),
  "press": at("/form", [undefined, "focus", "#name"], [undefined, "press", "x"], ["x", "get", "value", "#name"]),
  "keyboard type": at("/form", [undefined, "focus", "#name"], [undefined, "keyboard", "type", "tern"], ["tern", "get", "value", "#name"]),
  "hover": at("/form", [undefined, "hover", "#notes"], ["notes", "get", "attr", "#log", "data-mouseover"]),
  "check, uncheck, is checked": at("/form", [undefined, "check", "#agree"], ["true", "is", "checked", "#agree"],
    [undefined, "uncheck", "#agree"], ["false", "is", "checked", "#agree"]),
  "select": at("/form", [undefined, "select", "#size", "m"], ["m", "get", "value", "#size"]),
  "scroll": at("/tall", [undefined, "scroll", "down", "500"], [/^[1-9]/, "eval", "scrollY"]),
  "scrollintoview": at("/tall", [undefined, "scrollintoview", "#end"], [/^[1-9]/, "eval", "scrollY"]),
  "drag": at("/drag", [undefined, "drag", "#from", "#to"], ["bird", "get", "text", "#to"]),
  "is visible, enabled": at("/form", ["true", "is", "visible", "#name"], ["false", "is", "visible", "#late"], ["false", "is", "enabled", "#off"]),
  "snapshot": at("/", [/heading "Bird Shop"/, "snapshot"]),
  "snapshot -i and a click by its ref": at("/", [/button "Buy now"/, "snapshot", "-i"], [undefined, "find", "role", "button", "click", "--name", "Buy now"], ["bought 1", "get", "text", "#out"]),
  "click @ref": async () => {
    await run("open", `${site}/`);
    const ref = /button "Buy now" \[(?:.*, )?ref=(e\d+)/.exec(await run("snapshot", "-i"))[1];
    await run("click", `@${ref}`);
    await says("bought 1", "get", "text", "#out");
  },
  "find text click": at("/", [undefined, "find", "text", "About us", "click"], [undefined, "wait", "--url", "**/about"], ["About us", "get", "title"]),
  "find label fill": at("/form", [undefined, "find", "label", "Name", "fill", "Bob"], ["Bob", "get", "value", "#name"]),
  "find placeholder, first": at("/form", [undefined, "find", "placeholder", "Your name", "fill", "Eve"], ["Eve", "get", "value", "#name"]),
  "wait for an element, text, time": at("/form", [undefined, "eval", "void setTimeout(() => { late.hidden = false }, 200)"], [undefined, "wait", "#late"],
    [undefined, "wait", "--text", "Notes"], [undefined, "wait", "50"]),
  "wait --fn, --load": at("/", [undefined, "wait", "--fn", "document.title === 'Bird Shop'"], [undefined, "wait", "--load", "networkidle"]),
  "eval": at("/", [/Bird Shop/, "eval", "document.title"], [/3/, "eval", "1 + 2"]),
  "back, forward, reload": at("/", [undefined, "open", `${site}/about`], [undefined, "back"], ["Bird Shop", "get", "title"], [undefined, "forward"],
    [undefined, "reload"], ["About us", "get", "title"]),
  "tab new, list, close": at("/", [undefined, "tab", "new", `${site}/about`], [/\/about/, "tab"], ["About us", "get", "title"], [undefined, "tab", "close"]),
  "cookies": at("/", [undefined, "cookies", "set", "a", "b"], [/a=b/, "cookies"], [undefined, "cookies", "clear"]),
  "storage": at("/", [undefined, "storage", "local", "set", "k", "v"], [/v/, "storage", "local", "get", "k"]),
  "set viewport": at("/", [undefined, "set", "viewport", "640", "480"], ["640", "eval", "innerWidth"]),
  "set media": at("/", [undefined, "set", "media", "dark"], ["true", "eval", "matchMedia('(prefers-color-scheme: dark)').matches"]),
  "network route": at("/about", [undefined, "network", "route", "**/data.json", "--body", "{\"mock\":1}"],
    [/mock/, "eval", "fetch('/data.json').then(r => r.text())"], [undefined, "network", "unroute"]),
  "network requests": at("/", [undefined, "network", "requests"], [undefined, "eval", "fetch('/data.json').then(() => 1)"], [/data\.json/, "network", "requests"]),
  "console and errors": at("/", [undefined, "console"], [undefined, "eval", "console.log('a word')"], [/a word/, "console"], [undefined, "errors"]),
  "dialog": async () => {
    await run("open", `${site}/`);
    await run("eval", "void setTimeout(() => { document.title = String(confirm('sure?')); }, 50)");
    await new Promise(done => setTimeout(done, 500));
    await says(/sure\?/, "dialog", "status");
    await run("dialog", "accept");
    await says("true", "get", "title");
  },
  "frame": at("/frames", [undefined, "frame", "[name=near]"], ["inside", "get", "text", "#text"], [undefined, "frame", "main"]),
  "screenshot and pdf": async () => {
    await run("open", `${site}/`);
    await run("screenshot", join(folder, "a.png"));
    await run("pdf", join(folder, "a.pdf"));
    assert.deepEqual([readFileSync(join(folder, "a.png")).subarray(1, 4).toString(), readFileSync(join(folder, "a.pdf")).subarray(0, 4).toString()], ["PNG", "%PDF"]);
  },
  "mouse": at("/form", [undefined, "mouse", "move", "20", "20"], [undefined, "mouse", "down"], [undefined, "mouse", "up"]),
  "state save": async () => {
    await run("open", `${site}/cookie`);
    await run("state", "save", join(folder, "state.json"));
    assert.ok(existsSync(join(folder, "state.json")));
  },
  "what is not there fails": async () => {
    await run("open", `${site}/`);
    await fails("click", "@e999");
    await fails("get", "text", "#nothing");
  },
};

await runCalls(calls, async () => ({}));
await run("close").catch(() => {});
rmSync(folder, { recursive: true, force: true });
process.exit(0);
