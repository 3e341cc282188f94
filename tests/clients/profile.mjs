// What a profile keeps, over the bare protocol: `leave` puts a cookie and an item of local storage into a session, `find` expects
// them in a later one.

import assert from "node:assert/strict";

const { CDP_URL, SITE_URL, PROFILE_STEP } = process.env;
const socket = new WebSocket(CDP_URL);
const waiting = new Map();
socket.onmessage = ({ data }) => { const message = JSON.parse(data); waiting.get(message.id)?.(message); };
await new Promise(done => { socket.onopen = done; });
let next = 0;
const call = (method, params = {}, sessionId = undefined) => new Promise((done, failed) => {
  waiting.set(++next, ({ result, error }) => error ? failed(new Error(error.message)) : done(result));
  socket.send(JSON.stringify({ id: next, method, params, sessionId }));
});
const { targetInfos } = await call("Target.getTargets");
const { targetId } = targetInfos.find(one => one.type === "page");
const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
await call("Page.navigate", { url: `${SITE_URL}/article` }, sessionId);
const evaluate = async expression =>
  (await call("Runtime.evaluate", { expression, returnByValue: true }, sessionId)).result.value;
if (PROFILE_STEP === "leave") {
  await evaluate("document.cookie = 'login=yes; max-age=3600'; localStorage.setItem('cart', '3 gannets')");
}
assert.match(await evaluate("document.cookie"), /login=yes/);
assert.equal(await evaluate("localStorage.getItem('cart')"), "3 gannets");
console.log("all passed");
process.exit(0);
