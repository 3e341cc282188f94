// The Node process of a session. It answers cells one after another: requests arrive on descriptor 4 and responses
// leave on descriptor 5, both as JSON with a NUL after each. Descriptor 3 is the browser. All of this is in a block: cells
// share the top level, and must be free to declare `fs` or `net` themselves.
const fs = require('fs');
const net = require('net');
const util = require('util');
const inspector = require('inspector');
const { createRequire } = require('module');

const [CDP, REQUESTS, RESPONSES] = [3, 4, 5];
const MAX_RESULT_CHARACTERS = 1 << 20;
const { playwright, cache } = JSON.parse(process.env.GANNET_DRIVER);
delete process.env.GANNET_DRIVER;

/** Calls `receive` for every message of a socket. */
function receiveMessages(socket, receive) {
  let parts = [];
  socket.on('data', (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      parts.push(chunk.subarray(start, end));
      receive(Buffer.concat(parts).toString());
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
}

/** The browser as Playwright wants it: something to send messages to and to receive them from. */
function openTransport() {
  const socket = new net.Socket({ fd: CDP, readable: true, writable: true });
  const transport = {
    send: (message) => socket.write(JSON.stringify(message) + '\0'),
    close: () => socket.destroy(),
  };
  receiveMessages(socket, (text) => transport.onmessage && transport.onmessage(JSON.parse(text)));
  socket.on('error', () => {});
  socket.on('close', () => transport.onclose && transport.onclose());
  return transport;
}

async function connect() {
  const { chromium } = loadPlaywright(playwright, cache);
  const browser = await chromium.connectOverCDP(openTransport());
  const context = browser.contexts()[0] || (await browser.newContext());
  const page = context.pages()[0] || (await context.newPage());
  Object.assign(globalThis, { browser, context, page, chromium });
}

/** A page that was closed is replaced by the newest one that is open. */
async function refreshPage() {
  const { context, page } = globalThis;
  if (page && page.isClosed && page.isClosed() && globalThis.browser.isConnected()) {
    globalThis.page = context.pages().at(-1) || (await context.newPage());
  }
}

/** A value as text: strings as they are, bytes in base64, the rest as JSON. */
function toText(value) {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64');
  try {
    const text = JSON.stringify(value);
    // Maps, sets and the like are empty in JSON.
    const saysNothing = text === undefined || (text === '{}' && Object.getPrototypeOf(value) !== Object.prototype);
    if (!saysNothing) return text;
  } catch {}
  return util.inspect(value);
}

const session = new inspector.Session();
session.connect();
const post = (method, parameters) =>
  new Promise((resolve, reject) =>
    session.post(method, parameters, (error, answer) => (error ? reject(error) : resolve(answer))),
  );

/** An object literal alone is an expression, not a block. */
function asExpression(code) {
  const text = code.trim().replace(/;$/, '');
  if (!text.startsWith('{') || !text.endsWith('}')) return code;
  try {
    new Function(`(async()=>(${text}\n))`);
    return `(${text}\n)`;
  } catch {
    return code;
  }
}

let lastValue;
/** Keeps the value of a cell; `this` is not the value itself when that is a primitive. */
const keepValue = String(async function (keep) {
  keep(await this);
});

async function runCell(code) {
  lastValue = undefined;
  // V8's own mode for consoles: top-level await, and names that may be declared again by a later cell.
  const options = { replMode: true, awaitPromise: true, objectGroup: 'cell' };
  const { result, exceptionDetails } = await post('Runtime.evaluate', { expression: asExpression(code), ...options });
  if (exceptionDetails) return { error: describeException(exceptionDetails) };
  if (!result.objectId) return { result: toText('value' in result ? result.value : result.unserializableValue) };
  const keep = await post('Runtime.evaluate', { expression: 'globalThis[Symbol.for("gannet.keep")]', objectGroup: 'cell' });
  const awaited = await post('Runtime.callFunctionOn', {
    functionDeclaration: keepValue,
    objectId: result.objectId,
    arguments: [{ objectId: keep.result.objectId }],
    awaitPromise: true,
  });
  if (awaited.exceptionDetails) return { error: describeException(awaited.exceptionDetails) };
  return { result: toText(lastValue) };
}
Object.defineProperty(globalThis, Symbol.for('gannet.keep'), { value: (value) => { lastValue = value; } });

function describeException({ text, exception }) {
  if (!exception) return text;
  // Without the frames of this file.
  if (exception.description) return exception.description.split('\n    at Session.post (node:inspector')[0];
  return `Uncaught ${'value' in exception ? toText(exception.value) : exception.type}`;
}

/** Waits until what was written is in the pipe. Writes that do not fit into it at once are kept by Node. */
const flushOutputs = (() => {
  const writes = [process.stdout, process.stderr].map((stream) => stream.write.bind(stream));
  return () => Promise.all(writes.map((write) => new Promise((done) => write('', done))));
})();

function respond(response) {
  const bytes = Buffer.from(JSON.stringify(response) + '\0');
  for (let sent = 0; sent < bytes.length; ) sent += fs.writeSync(RESPONSES, bytes, sent);
}

async function answer({ code }) {
  await refreshPage();
  const outcome = await runCell(code);
  await post('Runtime.releaseObjectGroup', { objectGroup: 'cell' });
  if (outcome.error !== undefined) process.stderr.write(outcome.error + '\n');
  await flushOutputs();
  let { result } = outcome;
  const truncated = result !== undefined && result.length > MAX_RESULT_CHARACTERS;
  if (truncated) result = result.slice(0, MAX_RESULT_CHARACTERS);
  respond({ result, truncated, exit_code: outcome.error === undefined ? 0 : 1 });
}

for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => console.error(error));
}
globalThis.require = createRequire(process.cwd() + '/');
connect().then(
  () => {
    respond({ ready: true });
    let last = Promise.resolve();
    const requests = new net.Socket({ fd: REQUESTS, readable: true, writable: false });
    receiveMessages(requests, (text) => { last = last.then(() => answer(JSON.parse(text))); });
    requests.on('close', () => process.exit());
  },
  (error) => {
    respond({ ready: false, error: String(error && error.message) });
    process.exit(1);
  },
);
