// A zip of markdown, made in the browser from what the API answers. JSON lines and WARC are sent by the server.

import { api, ownPath, save } from '../core.js';

/// All documents of a crawl, page by page. `onProgress` is told how many there are so far.
export async function* documents(path, onProgress) {
  let next = `${path}?limit=100`;
  let sofar = 0;
  while (next) {
    const page = await api(next);
    for (const document of page.data) yield document;
    sofar += page.data.length;
    onProgress(sofar);
    next = page.next && page.data.length > 0 ? ownPath(page.next) : null;
  }
}

const encoder = new TextEncoder();

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});
function crc32(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/// Numbers of 2 (`s`) or 4 (`l`) bytes, the smallest byte first.
function pack(form, values) {
  const view = new DataView(new ArrayBuffer([...form].reduce((sum, one) => sum + (one === 's' ? 2 : 4), 0)));
  let at = 0;
  [...form].forEach((one, index) => {
    if (one === 's') view.setUint16(at, values[index], true);
    else view.setUint32(at, values[index], true);
    at += one === 's' ? 2 : 4;
  });
  return new Uint8Array(view.buffer);
}

/// A zip archive of texts, stored as they are.
export function zip(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [name, text] of files) {
    const [title, data] = [encoder.encode(name), encoder.encode(text)];
    const fields = [20, 0x0800, 0, 0, 0x21, crc32(data), data.length, data.length, title.length, 0];
    parts.push(pack('lssssslllss', [0x04034b50, ...fields]), title, data);
    directory.push(pack('lsssssslllsssssll', [0x02014b50, 20, ...fields, 0, 0, 0, 0, offset]), title);
    offset += 30 + title.length + data.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  return [
    ...parts,
    ...directory,
    pack('lsssslls', [0x06054b50, 0, 0, files.length, files.length, size, offset, 0]),
  ];
}

/// A name for the file of a page that every system can store.
export function fileName(url, used) {
  const plain =
    url
      .replace(/^https?:\/\//, '')
      .replace(/[^\w.-]+/g, '_')
      .replace(/^[._]+|_+$/g, '')
      .slice(0, 100) || 'page';
  let name = plain;
  for (let number = 2; used.has(name); number += 1) name = `${plain}-${number}`;
  used.add(name);
  return `${name}.md`;
}

const addressOf = (document) => document.metadata?.sourceURL ?? document.metadata?.url ?? '';

/// Fetches all documents of a crawl and hands their markdown to the reader as one zip.
export async function downloadZip(path, name, onProgress) {
  const used = new Set();
  const texts = [];
  for await (const document of documents(path, onProgress))
    texts.push([fileName(addressOf(document), used), document.markdown ?? '']);
  save(`${name}.zip`, zip(texts));
}
