// The databases of an origin as text, and back. Values keep their types: what JSON cannot hold is written as an object with
// a tag `t`. A record that holds something else (a key of the browser, a file, a cycle) is left out.
(() => {
  const MAX_DEPTH = 40;
  const ARRAYS = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    Float32Array, Float64Array, BigInt64Array, BigUint64Array };
  const toText = bytes => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(text);
  };
  const toBytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const encode = (value, depth = 0) => {
    if (depth > MAX_DEPTH) throw new Error("too deep");
    const inner = each => encode(each, depth + 1);
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "string") return value.isWellFormed() ? value : { t: "string", v: [...Array(value.length).keys()].map(at => value.charCodeAt(at)) };
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : { t: "number", v: Object.is(value, -0) ? "-0" : String(value) };
    if (value === undefined) return { t: "undefined" };
    if (typeof value === "bigint") return { t: "bigint", v: String(value) };
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (kind === "Date") return { t: "date", v: encode(value.getTime(), depth + 1) };
    if (kind === "RegExp") return { t: "regexp", v: [value.source, value.flags] };
    if (kind === "Map") return { t: "map", v: [...value].map(([key, each]) => [inner(key), inner(each)]) };
    if (kind === "Set") return { t: "set", v: [...value].map(inner) };
    if (kind === "ArrayBuffer") return { t: "buffer", v: toText(new Uint8Array(value)) };
    if (ARRAYS[kind]) return { t: kind, v: toText(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) };
    if (Array.isArray(value)) return { t: "array", v: [...value].map(inner) };
    if (kind === "Object") return { t: "object", v: Object.entries(value).map(([key, each]) => [key, inner(each)]) };
    throw new Error(`${kind} cannot be saved`);
  };
  const decode = value => {
    if (value === null || typeof value !== "object") return value;
    const { t, v } = value;
    switch (t) {
      case "string": return String.fromCharCode(...v);
      case "number": return Number(v);
      case "undefined": return undefined;
      case "bigint": return BigInt(v);
      case "date": return new Date(decode(v));
      case "regexp": return new RegExp(...v);
      case "map": return new Map(v.map(([key, each]) => [decode(key), decode(each)]));
      case "set": return new Set(v.map(decode));
      case "buffer": return toBytes(v).buffer;
      case "array": return v.map(decode);
      // Not by assignment, which would take `__proto__` for something else.
      case "object": return Object.fromEntries(v.map(([key, each]) => [key, decode(each)]));
      default: return new ARRAYS[t](toBytes(v).buffer);
    }
  };
  const finished = request => new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
    request.onblocked = () => failed(new Error("in use"));
  });
  const committed = change => new Promise((done, failed) => {
    change.oncomplete = () => done();
    change.onerror = change.onabort = () => failed(change.error);
  });

  async function readStore(database, name, room) {
    const store = database.transaction(name).objectStore(name);
    const indexes = [...store.indexNames].map(each => store.index(each))
      .map(index => ({ name: index.name, keyPath: index.keyPath, unique: index.unique, multiEntry: index.multiEntry }));
    const records = [];
    await new Promise((done, failed) => {
      const request = store.openCursor();
      request.onerror = () => failed(request.error);
      request.onsuccess = () => {
        const cursor = request.result;
        if (!cursor || room.left <= 0) { done(); return; }
        try {
          const record = [encode(cursor.primaryKey), encode(cursor.value)];
          room.left -= JSON.stringify(record).length;
          if (room.left > 0) records.push(record);
        } catch { /* It cannot be saved. */ }
        cursor.continue();
      };
    });
    return { name, keyPath: store.keyPath, autoIncrement: store.autoIncrement, indexes, records };
  }

  async function collect(maxBytes) {
    const room = { left: maxBytes };
    const databases = [];
    for (const { name, version } of await indexedDB.databases()) {
      const database = await finished(indexedDB.open(name));
      try {
        const stores = [];
        for (const store of database.objectStoreNames) stores.push(await readStore(database, store, room));
        databases.push({ name, version, stores });
      } finally { database.close(); }
    }
    return databases.length ? JSON.stringify(databases) : "";
  }

  async function restore(text) {
    for (const { name, version, stores } of JSON.parse(text)) {
      const opening = indexedDB.open(name, version);
      opening.onupgradeneeded = () => {
        for (const { name, keyPath, autoIncrement, indexes } of stores) {
          const store = opening.result.createObjectStore(name, { keyPath, autoIncrement });
          for (const index of indexes) store.createIndex(index.name, index.keyPath, { unique: index.unique, multiEntry: index.multiEntry });
        }
      };
      const database = await finished(opening);
      try {
        for (const { name, keyPath, records } of stores) {
          const change = database.transaction(name, "readwrite");
          const store = change.objectStore(name);
          for (const [key, value] of records) keyPath === null ? store.put(decode(value), decode(key)) : store.put(decode(value));
          await committed(change);
        }
      } finally { database.close(); }
    }
    return true;
  }
  return { collect, restore };
})()
