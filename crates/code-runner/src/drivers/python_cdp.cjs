// Loaded into the Node process that Playwright for Python starts. Playwright can only be given an address there, so
// this answers for that address inside the process: it speaks WebSocket with Playwright, and passes each message on
// over descriptor 3 with a NUL after it. No real connection is made, and none could be.
'use strict';
const net = require('net');
const crypto = require('crypto');
const { Duplex } = require('stream');

const HOST = '127.0.0.1';
const PORT = 9;
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const [TEXT, CLOSE, PING, PONG] = [1, 8, 9, 10];

/** One frame with the whole message; a server does not mask. */
function encodeFrame(kind, payload) {
  let header;
  if (payload.length < 126) header = Buffer.from([0x80 | kind, payload.length]);
  else if (payload.length < 65536) header = Buffer.from([0x80 | kind, 126, payload.length >> 8, payload.length & 255]);
  else {
    header = Buffer.alloc(10);
    header[0] = 0x80 | kind;
    header[1] = 127;
    header.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([header, payload]);
}

/** The first frame of the bytes and how many of them it takes; nothing when it is not complete. */
function decodeFrame(bytes) {
  if (bytes.length < 2) return undefined;
  let [length, start] = [bytes[1] & 127, 2];
  if (length === 126) {
    if (bytes.length < 4) return undefined;
    [length, start] = [bytes.readUInt16BE(2), 4];
  } else if (length === 127) {
    if (bytes.length < 10) return undefined;
    [length, start] = [Number(bytes.readBigUInt64BE(2)), 10];
  }
  const isMasked = (bytes[1] & 128) !== 0;
  const end = start + (isMasked ? 4 : 0) + length;
  if (bytes.length < end) return undefined;
  const payload = Buffer.from(bytes.subarray(end - length, end));
  if (isMasked) for (let at = 0; at < length; at++) payload[at] ^= bytes[start + (at & 3)];
  return { kind: bytes[0] & 15, isLast: (bytes[0] & 128) !== 0, payload, end };
}

/** What Playwright takes for its connection. */
class BrowserConnection extends Duplex {
  constructor() {
    super();
    this.connecting = true;
    this.remoteAddress = HOST;
    this.received = Buffer.alloc(0);
    this.fragments = [];
    process.nextTick(() => {
      this.connecting = false;
      this.emit('connect');
      this.emit('ready');
    });
  }
  setTimeout() { return this; }
  setNoDelay() { return this; }
  setKeepAlive() { return this; }
  ref() { return this; }
  unref() { return this; }
  _read() {}

  _write(chunk, _encoding, done) {
    this.received = this.received.length ? Buffer.concat([this.received, chunk]) : chunk;
    if (!this.browser) this.upgrade();
    if (this.browser) this.passFrames();
    done();
  }

  upgrade() {
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.received.subarray(0, end).toString();
    this.received = this.received.subarray(end + 4);
    const key = /^sec-websocket-key: *(\S+)/im.exec(head)[1];
    const accept = crypto.createHash('sha1').update(key + ACCEPT_SUFFIX).digest('base64');
    this.push(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    this.browser = new net.Socket({ fd: 3, readable: true, writable: true });
    let parts = [];
    this.browser.on('data', (chunk) => {
      let start = 0;
      for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, start)) {
        parts.push(chunk.subarray(start, at));
        this.push(encodeFrame(TEXT, Buffer.concat(parts)));
        parts = [];
        start = at + 1;
      }
      if (start < chunk.length) parts.push(chunk.subarray(start));
    });
    this.browser.on('error', () => {});
    this.browser.on('close', () => this.push(null));
  }

  passFrames() {
    for (let frame = decodeFrame(this.received); frame; frame = decodeFrame(this.received)) {
      this.received = this.received.subarray(frame.end);
      if (frame.kind === PING) this.push(encodeFrame(PONG, frame.payload));
      else if (frame.kind === CLOSE) this.push(encodeFrame(CLOSE, frame.payload));
      else if (frame.kind !== PONG) {
        this.fragments.push(frame.payload);
        if (frame.isLast) {
          this.browser.write(Buffer.concat([...this.fragments, Buffer.from([0])]));
          this.fragments = [];
        }
      }
    }
  }

  _destroy(error, done) {
    if (this.browser) this.browser.destroy();
    done(error);
  }
}

for (const name of ['connect', 'createConnection']) {
  const original = net[name];
  net[name] = (...parameters) => {
    const [options] = parameters;
    const isBrowser = options && Number(options.port) === PORT && options.host === HOST;
    return isBrowser ? new BrowserConnection() : original.apply(net, parameters);
  };
}
