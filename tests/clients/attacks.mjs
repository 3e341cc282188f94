// What a hostile client of the protocol, or a hostile page in a session, would try. Each attack must be refused; afterwards the
// session works as before. CDP_URL is the session of the attacker, VICTIM_URL that of somebody else, HOST_FILE a file of the
// server, OUTSIDE a folder of it.

import assert from "node:assert/strict";

const { CDP_URL, VIEW_URL, VICTIM_URL, SITE_URL, HOST_FILE, OUTSIDE } = process.env;

async function connect(url) {
  const socket = new WebSocket(url);
  await new Promise((done, failed) => { socket.onopen = done; socket.onerror = () => failed(new Error("cannot connect")); });
  const waiting = new Map(), events = [];
  let next = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.id) waiting.get(message.id)?.(message); else events.push(message);
  };
  const ask = (method, params = {}, sessionId = undefined) => new Promise(done => {
    waiting.set(++next, done);
    socket.send(JSON.stringify({ id: next, method, params, sessionId }));
  });
  const call = async (...given) => {
    const { result, error } = await ask(...given);
    if (error) throw new Error(`${given[0]}: ${error.message}`);
    return result;
  };
  return { socket, ask, call, events };
}

const client = await connect(CDP_URL);
const { ask, call } = client;
const { targetInfos } = await call("Target.getTargets");
const { sessionId: page } = await call("Target.attachToTarget", { targetId: targetInfos.find(one => one.type === "page").targetId, flatten: true });
for (const domain of ["Page", "Runtime", "Network", "DOM"]) await call(`${domain}.enable`, {}, page);
const evaluate = async expression =>
  (await call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true, userGesture: true }, page)).result.value;
const pause = ms => new Promise(done => setTimeout(done, ms));
const home = async () => { await call("Page.navigate", { url: `${SITE_URL}/article` }, page); await pause(300); };
/** All text that any page shows now. */
const shown = async () => {
  const texts = [];
  for (const { targetId, type, url } of (await call("Target.getTargets")).targetInfos) {
    if (type !== "page") continue;
    const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
    const { result } = await ask("Runtime.evaluate", { expression: "document.documentElement?.innerText ?? ''", returnByValue: true }, sessionId);
    texts.push(url, result?.result?.value ?? "");
    await call("Target.detachFromTarget", { sessionId });
  }
  return texts.join("\n");
};
const refused = async (method, params, where, reason = /not allowed|is allowed with|not a file|Invalid parameters|wasn't found|not found|No target/) => {
  const { error } = await ask(method, params, where);
  assert.ok(error, `${method} ${JSON.stringify(params)} was allowed`);
  assert.match(error.message, reason);
};
const fileUrl = `file://${HOST_FILE}`;
const secret = "a secret of the server";
const closed = ["file:///etc/passwd", fileUrl, "FILE:/etc/passwd", "view-source:file:///etc/passwd", "chrome://version", "chrome://net-export",
  "devtools://devtools/bundled/inspector.html", "about:version", "chrome-extension://x/", "filesystem:http://a/x"];

const attacks = {
  "a closed scheme by Page.navigate": async () => { for (const url of closed) await refused("Page.navigate", { url }, page); },
  "a closed scheme by Target.createTarget": async () => { for (const url of closed) await refused("Target.createTarget", { url }); },
  "a closed scheme by two keys of one name": async () => {
    const reply = new Promise(done => { client.socket.addEventListener("message", ({ data }) => { const m = JSON.parse(data); if (m.id === 999_999) done(m); }); });
    client.socket.send(`{"id":999999,"method":"Page.navigate","sessionId":"${page}","params":{"url":"http://a.example","url":"${fileUrl}"}}`);
    assert.ok((await reply).error);
  },
  "a closed scheme by scripts of a page": async () => {
    for (const url of [fileUrl, "chrome://version", "devtools://devtools/bundled/inspector.html"]) {
      await evaluate(`location.href = ${JSON.stringify(url)}; 1`).catch(() => {});
      await evaluate(`void open(${JSON.stringify(url)}); 1`).catch(() => {});
      await evaluate(`document.body.append(Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(url)} })); 1`).catch(() => {});
      assert.equal(await evaluate(`fetch(${JSON.stringify(url)}).then(() => "read", () => "no")`), "no");
      await pause(200);
    }
    const text = await shown();
    assert.ok(!text.includes(secret) && !/chrome:\/\/version|devtools:\/\//.test(text), text);
  },
  "a file by a request that is sent elsewhere": async () => {
    await call("Fetch.enable", {}, page);
    client.events.length = 0;
    ask("Page.navigate", { url: `${SITE_URL}/article` }, page);
    await pause(500);
    const paused = client.events.find(one => one.method === "Fetch.requestPaused");
    await refused("Fetch.continueRequest", { requestId: paused.params.requestId, url: fileUrl }, page);
    await call("Fetch.fulfillRequest", { requestId: paused.params.requestId, responseCode: 302, responseHeaders: [{ name: "Location", value: fileUrl }] }, page);
    await pause(300);
    await call("Fetch.disable", {}, page);
    assert.ok(!(await shown()).includes(secret));
  },
  "a file by Network.loadNetworkResource": async () => refused("Network.loadNetworkResource", { url: fileUrl, options: { disableCache: true, includeCredentials: false } }, page),
  "a file by content that is written into a page": async () => {
    const { frameTree } = await call("Page.getFrameTree", {}, page);
    await call("Page.setDocumentContent", { frameId: frameTree.frame.id, html: `<iframe src="${fileUrl}"></iframe><img src="${fileUrl}"><object data="${fileUrl}"></object>` }, page);
    await pause(300);
    assert.ok(!(await shown()).includes(secret));
  },
  "downloads into a folder of the server": async () => {
    await call("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: OUTSIDE });
    await ask("Page.setDownloadBehavior", { behavior: "allow", downloadPath: OUTSIDE }, page);
    await evaluate(`Object.assign(document.createElement("a"), { href: "data:text/plain,x", download: "planted.txt" }).click(); 1`);
    await evaluate(`Object.assign(document.createElement("a"), { href: "data:text/plain,x", download: "../../planted.txt" }).click(); 1`);
    await pause(700);
  },
  "uploads of a file of the server": async () => {
    await evaluate("document.body.innerHTML = '<input type=file id=f>'; 1");
    const { result } = await call("Runtime.evaluate", { expression: "document.querySelector('#f')" }, page);
    for (const path of [HOST_FILE, "/etc/passwd", `${OUTSIDE}/../`, "/proc/self/environ"]) {
      await refused("DOM.setFileInputFiles", { files: [path], objectId: result.objectId }, page);
    }
    assert.equal(await evaluate("document.querySelector('#f').files.length"), 0);
  },
  "a file of the server dragged into a page": async () =>
    refused("Input.dispatchDragEvent", { type: "drop", x: 5, y: 5, data: { items: [], files: [HOST_FILE], dragOperationsMask: 1 } }, page),
  "an extension": async () => refused("Extensions.loadUnpacked", { path: OUTSIDE }),
  "the command line and facts of the machine": async () => {
    for (const method of ["Browser.getBrowserCommandLine", "SystemInfo.getInfo", "SystemInfo.getProcessInfo", "Browser.getHistograms"]) await refused(method, {});
  },
  "crashing the whole browser": async () => { for (const method of ["Browser.crash", "Browser.crashGpuProcess"]) await refused(method, {}); },
  "ports and other devices": async () => {
    await refused("Tethering.bind", { port: 4000 });
    await refused("Cast.enable", {}, page);
    await refused("Target.setRemoteLocations", { locations: [{ host: "127.0.0.1", port: 9222 }] });
  },
  "the protocol for a page": async () => refused("Target.exposeDevToolsProtocol", { targetId: targetInfos[0].targetId }),
  "web applications that open files": async () => refused("PWA.install", { manifestId: "x" }),
  "tracing by the system's own recorder": async () => refused("Tracing.start", { tracingBackend: "system", transferMode: "ReturnAsStream" }),
  "a context with a proxy of its own": async () => {
    for (const wrong of [{ proxyServer: "http://127.0.0.1:1" }, { proxyBypassList: "*" }, { originsWithUniversalNetworkAccess: ["*"] }]) {
      await refused("Target.createBrowserContext", wrong);
    }
  },
  "a protocol session of another client": async () => {
    const other = await connect(CDP_URL);
    await refused("Runtime.evaluate", { expression: "1" }, "0".repeat(32));
    const { error } = await other.ask("Runtime.evaluate", { expression: "1" }, page);
    assert.match(error.message, /not found/);
    other.socket.close();
  },
  "targets of another session": async () => {
    const victim = await connect(VICTIM_URL);
    const theirs = (await victim.call("Target.getTargets")).targetInfos.find(one => one.type === "page").targetId;
    for (const method of ["Target.attachToTarget", "Target.closeTarget", "Target.getTargetInfo", "Target.activateTarget"]) {
      await refused(method, { targetId: theirs, flatten: true }, undefined, /./);
    }
    assert.ok(!(await call("Target.getTargets")).targetInfos.some(one => one.targetId === theirs));
    assert.equal((await victim.call("Target.getTargetInfo", { targetId: theirs })).targetInfo.targetId, theirs, "it is still there");
    victim.socket.close();
  },
  "tokens of other links": async () => {
    const token = url => new URL(url).searchParams.get("token");
    const own = new URL(CDP_URL);
    for (const wrong of ["", "x", token(VICTIM_URL), token(VIEW_URL), token(CDP_URL).slice(0, -1), `${token(CDP_URL)}A`]) {
      own.searchParams.set("token", wrong);
      await assert.rejects(connect(own.href), /cannot connect/, wrong);
      assert.notEqual((await fetch(own.href.replace("ws", "http").replace("?", "/json/version?"))).status, 200);
    }
  },
  "the metadata service of a cloud, by pages": async () => {
    await home();
    for (const host of ["169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal", "0xa9fea9fe", "2852039166"]) {
      const got = await evaluate(`fetch("http://${host}/latest/meta-data/").then(r => r.text(), () => "refused")`);
      assert.ok(got === "refused" || got === "not fetched", `${host}: ${got}`);
      await ask("Page.navigate", { url: `http://${host}/latest/meta-data/` }, page);
      await pause(100);
    }
    assert.doesNotMatch(await shown(), /ami-id|instance/);
    await home();
  },
  "private addresses, by WebSocket, WebRTC and workers": async () => {
    await home();
    assert.equal(await evaluate("new Promise(done => { const s = new WebSocket('ws://10.1.2.3:80/'); s.onopen = () => done('open'); s.onerror = () => done('refused'); })"), "refused");
    assert.equal(await evaluate(`new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob(["fetch('http://10.1.2.3/').then(r => r.text()).then(postMessage, () => postMessage('refused'))"]))); w.onmessage = e => done(e.data); })`)
      .then(text => text === "refused" || text === "not fetched"), true);
    const candidates = await evaluate(`new Promise(async done => { const seen = []; const c = new RTCPeerConnection({ iceServers: [{ urls: "stun:10.1.2.3:3478" }] }); c.createDataChannel("x");
      c.onicecandidate = e => { if (e.candidate) seen.push(e.candidate.candidate); else done(seen); }; await c.setLocalDescription(await c.createOffer()); setTimeout(() => done(seen), 2000); })`);
    assert.ok(candidates.every(one => !/ udp .* typ (srflx|relay)/i.test(one)), candidates.join("\n"));
  },
  "permission prompts": async () => {
    await home();
    // The headless build has nobody to ask, so it stays at "default".
    assert.match(await evaluate("Notification.requestPermission()"), /^(denied|default)$/);
    assert.equal(await evaluate("navigator.mediaDevices.getUserMedia({ audio: true }).then(() => 'heard', () => 'denied')"), "denied");
    assert.equal(await evaluate("new Promise(done => navigator.geolocation.getCurrentPosition(() => done('found'), () => done('denied'), { timeout: 3000 }))"), "denied");
  },
  "printing and file pickers": async () => {
    await home();
    await evaluate("print(); 1");
    assert.equal(await Promise.race([evaluate("self.showOpenFilePicker ? showOpenFilePicker().then(() => 'opened', () => 'no') : 'no'"), pause(1500).then(() => "waits")]) !== "opened", true);
  },
  "messages that are none": async () => {
    for (const text of ["", "[]", "{}", "\u0000", "{\"id\":1}", "{\"id\":\"x\",\"method\":\"Page.enable\"}", "[".repeat(100_000), `{"id":1,"method":"${"x".repeat(200)}"}`]) {
      client.socket.send(text);
    }
    await pause(200);
  },
  "more than 50 pages": async () => {
    await Promise.all(Array.from({ length: 80 }, () => ask("Target.createTarget", { url: "about:blank" })));
    let open = [];
    for (let round = 0; round < 40; round++) {
      await pause(500);
      open = (await call("Target.getTargets")).targetInfos.filter(one => one.type === "page");
      if (open.length <= 50) break;
    }
    assert.ok(open.length <= 50, `${open.length} pages`);
    await Promise.all(open.slice(1).map(({ targetId }) => ask("Target.closeTarget", { targetId })));
  },
  "more than 32 clients": async () => {
    const more = await Promise.allSettled(Array.from({ length: 40 }, () => connect(CDP_URL)));
    const made = more.filter(one => one.status === "fulfilled").map(one => one.value);
    const working = await Promise.all(made.map(one => Promise.race([one.ask("Browser.getVersion"), pause(3000)])));
    assert.ok(working.filter(one => one?.result).length <= 32);
    for (const { socket } of made) socket.close();
    await pause(300);
  },
};

let failed = 0;
for (const [name, attack] of Object.entries(attacks)) {
  try {
    await attack();
    const { result } = await call("Browser.getVersion").then(() => ask("Target.getTargets"));
    assert.ok(result.targetInfos.length > 0, "the session still works");
    console.log(`refused: ${name}`);
  } catch (error) {
    failed++;
    console.log(`SUCCEEDED or harmed: ${name}\n${error.stack}`);
  }
}
console.log(`${Object.keys(attacks).length} attacks, ${failed} failed`);
if (!failed) console.log("all passed");
process.exit(failed ? 1 : 0);
