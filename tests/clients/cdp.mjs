// A client of the Chrome DevTools Protocol written by hand, against `cdpUrl` and the live view of a session.

import assert from "node:assert/strict";

const { CDP_URL, VIEW_URL, ACT_URL, SITE_URL } = process.env;

/** Commands and events over one WebSocket. */
async function connect(url) {
  const socket = new WebSocket(url);
  const waiting = new Map(), events = [];
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.id === undefined) { events.push(message); return; }
    waiting.get(message.id)(message);
    waiting.delete(message.id);
  };
  await new Promise((done, failed) => { socket.onopen = done; socket.onerror = () => failed(new Error(`cannot connect to ${url}`)); });
  let next = 0;
  const ask = (method, params = {}, sessionId = undefined) => new Promise(done => {
    waiting.set(++next, done);
    socket.send(JSON.stringify({ id: next, method, params, sessionId }));
  });
  const call = async (...command) => {
    const answer = await ask(...command);
    assert.ok(!answer.error, `${command[0]}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  };
  return { ask, call, events, socket };
}

async function openPage(client) {
  const { targetInfos } = await client.call("Target.getTargets");
  const pages = targetInfos.filter(one => one.type === "page");
  assert.equal(pages.length, 1, "a session begins with one page");
  const { sessionId } = await client.call("Target.attachToTarget", { targetId: pages[0].targetId, flatten: true });
  return sessionId;
}

const evaluate = async (client, page, expression) =>
  (await client.call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true }, page)).result.value;

async function until(what, check) {
  for (let round = 0; round < 200; round++) {
    const value = await check();
    if (value) return value;
    await new Promise(done => setTimeout(done, 50));
  }
  throw new Error(`not in time: ${what}`);
}

// Pages are driven, and two clients do not notice each other.
const one = await connect(CDP_URL), two = await connect(CDP_URL);
const page = await openPage(one), same = await openPage(two);
await one.call("Page.navigate", { url: `${SITE_URL}/article` }, page);
await until("the page", () => evaluate(one, page, "document.body?.innerText.includes('firstword')"));
assert.ok(await evaluate(two, same, "document.body.innerText.includes('firstword')"));
const foreign = await two.ask("Runtime.evaluate", { expression: "1" }, page);
assert.match(foreign.error.message, /Session with given id not found/);
assert.ok(!(await evaluate(one, page, "navigator.userAgent")).includes("Headless"));

// What reaches outside of the browser is refused.
for (const url of ["file:///etc/passwd", "chrome://version", "view-source:file:///etc/passwd", "devtools://devtools/"]) {
  for (const method of ["Page.navigate", "Target.createTarget"]) {
    const { error } = await one.ask(method, { url }, method.startsWith("Page") ? page : undefined);
    assert.match(error.message, /not allowed/, `${method} ${url}`);
  }
}
for (const [method, params] of [
  ["Extensions.loadUnpacked", { path: "/tmp" }],
  ["SystemInfo.getInfo", {}],
  ["Browser.crash", {}],
  ["Browser.getBrowserCommandLine", {}],
  ["Target.setRemoteLocations", { locations: [] }],
  ["Target.createBrowserContext", { proxyServer: "http://127.0.0.1:1" }],
  ["Tethering.bind", { port: 4000 }],
]) {
  const { error } = await one.ask(method, params);
  assert.match(error.message, /not allowed/, method);
}
const files = await one.ask("DOM.setFileInputFiles", { files: ["/etc/passwd"], objectId: "x" }, page);
assert.match(files.error.message, /not a file of this session/);
await one.call("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: "/etc" });

// The network is that of a scrape: addresses that are not allowed are out of reach in every context.
const { browserContextId } = await one.call("Target.createBrowserContext");
const { targetId } = await one.call("Target.createTarget", { url: "about:blank", browserContextId });
const { sessionId: other } = await one.call("Target.attachToTarget", { targetId, flatten: true });
await one.call("Page.navigate", { url: `${SITE_URL}/article` }, other);
await until("a page in another context", () => evaluate(one, other, "document.body?.innerText.includes('firstword')"));
const refused = await evaluate(one, other, "fetch('http://10.1.2.3/', { mode: 'no-cors' }).then(r => r.type, () => 'refused')");
assert.ok(["refused", "opaque"].includes(refused), refused);
const { errorText } = await one.call("Page.navigate", { url: "https://10.1.2.3/" }, other);
assert.match(errorText ?? "", /ERR_TUNNEL_CONNECTION_FAILED/);

// Wrong tokens open nothing.
for (const wrong of [CDP_URL.replace(/token=.*/, "token=x"), CDP_URL.replace(/\?.*/, ""), VIEW_URL.replace("/view/", "/cdp/").replace("http", "ws")]) {
  await assert.rejects(connect(wrong), /cannot connect/);
}
const version = await (await fetch(CDP_URL.replace("ws", "http").replace("?", "/json/version/?"))).json();
assert.equal(version.webSocketDebuggerUrl, CDP_URL);

// The live view: frames of the page; only the interactive link acts.
async function watch(url) {
  const viewer = new WebSocket(url.replace("http", "ws").replace("?", "/socket?"));
  viewer.binaryType = "arraybuffer";
  const seen = { frames: 0, first: 0, state: undefined, viewer };
  const began = Date.now();
  viewer.onmessage = ({ data }) => {
    if (typeof data === "string") { seen.state = JSON.parse(data); return; }
    assert.deepEqual([...new Uint8Array(data).subarray(0, 2)], [0xff, 0xd8], "a JPEG");
    seen.first ||= Date.now() - began;
    seen.frames++;
    viewer.send(JSON.stringify({ type: "shown" }));
  };
  await new Promise((done, failed) => { viewer.onopen = done; viewer.onerror = () => failed(new Error("no view")); });
  await until("a frame", () => seen.frames > 0 && seen.state);
  return seen;
}
await one.call("Target.disposeBrowserContext", { browserContextId });
const shown = await (await fetch(VIEW_URL)).text();
assert.match(shown, /<canvas/);
const form = "data:text/html," + encodeURIComponent("<input id=name autofocus style='position:fixed;left:0;top:0;width:600px;height:200px'><button onclick=\"this.textContent='pressed'\" style='position:fixed;left:0;top:300px;width:600px;height:200px'>press</button>");
await one.call("Page.navigate", { url: form }, page);
const reader = await watch(VIEW_URL), actor = await watch(ACT_URL);
assert.deepEqual([reader.state.interactive, actor.state.interactive], [false, true]);
assert.equal(actor.state.tabs.length, 1);
const press = { type: "mouse", x: 50, y: 350, button: "left", clicks: 1 };
const text = id => evaluate(one, page, `document.querySelector('${id}').textContent`);
for (const event of ["mousePressed", "mouseReleased"]) reader.viewer.send(JSON.stringify({ ...press, event }));
await new Promise(done => setTimeout(done, 300));
assert.equal(await text("button"), "press", "a reader does not act");
for (const event of ["mousePressed", "mouseReleased"]) actor.viewer.send(JSON.stringify({ ...press, event }));
await until("the press", async () => await text("button") === "pressed");
for (const event of ["mousePressed", "mouseReleased"]) actor.viewer.send(JSON.stringify({ ...press, y: 50, event }));
for (const letter of "Eve") {
  const key = { type: "key", key: letter, code: `Key${letter.toUpperCase()}`, keyCode: letter.toUpperCase().charCodeAt(0), text: letter };
  actor.viewer.send(JSON.stringify({ ...key, event: "keyDown" }));
  actor.viewer.send(JSON.stringify({ ...key, event: "keyUp", text: "" }));
}
actor.viewer.send(JSON.stringify({ type: "paste", text: " Adam" }));
await until("the typing", async () => await evaluate(one, page, "document.querySelector('#name').value") === "Eve Adam");
console.log("first frame after", actor.first, "ms");

// A client that goes leaves the others alone, and closing the browser ends the session.
two.socket.close();
assert.equal(await evaluate(one, page, "1 + 1"), 2);
const began = Date.now();
for (let round = 0; round < 1000; round++) await evaluate(one, page, "1");
console.log("1000 evaluations:", Date.now() - began, "ms");
const ended = new Promise(done => { one.socket.onclose = done; });
await one.call("Browser.close");
await ended;
console.log("all passed");
process.exit(0);
