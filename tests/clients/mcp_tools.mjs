// What the scripts for MCP share: a client that only sends and receives lines, and calls over plain HTTP.

import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const { API_KEY, API_URL, SITE_URL, GANNET, WORK_DIR } = process.env;
export const packages = new URL("./node_modules/", import.meta.url).pathname;
export const folder = mkdtempSync(join(tmpdir(), "mcp-"));
export const env = {
  PATH: process.env.PATH, HOME: folder, FIRECRAWL_API_URL: API_URL, FIRECRAWL_API_KEY: API_KEY,
  FIRECRAWL_NO_UPDATE_CHECK: "1", FIRECRAWL_NO_TELEMETRY: "1",
};
export const officialServer = () => new LineClient(process.execPath, [join(packages, "firecrawl-mcp/dist/index.js")], env);
export const ourServer = (given = [], more = {}) => new LineClient(GANNET, ["mcp", ...given], { ...env, ...more });

/** One message a line, each answer to its question. */
export class LineClient {
  constructor(program, given, environment) {
    this.child = spawn(program, given, { env: environment, cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
    this.waiting = new Map();
    this.notified = [];
    this.last = 0;
    this.errors = "";
    this.child.stderr.on("data", piece => { this.errors += piece; });
    this.ended = new Promise(resolve => this.child.on("exit", code => resolve(code)));
    createInterface({ input: this.child.stdout }).on("line", line => {
      const message = JSON.parse(line);
      if (message.id === undefined) this.notified.push(message);
      else this.waiting.get(message.id)?.(message);
    });
    this.ended.then(() => this.waiting.forEach(resolve => resolve({ error: { message: `ended: ${this.errors}` } })));
  }

  notify(method, params) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  ask(method, params) {
    return new Promise(resolve => {
      this.waiting.set(++this.last, resolve);
      this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: this.last, method, params })}\n`);
    });
  }

  async open(protocolVersion = "2025-11-25") {
    const answer = await this.ask("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "tests", version: "1" } });
    this.notify("notifications/initialized");
    return answer.result;
  }

  async call(name, given, meta) {
    return this.ask("tools/call", { name, arguments: given, ...(meta ? { _meta: meta } : {}) });
  }

  /** Ends its input and waits for its end. */
  async close() {
    this.child.stdin.end();
    return this.ended;
  }
}

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** One message over HTTP. */
export const post = (message, { path = "/mcp", headers = {}, key = API_KEY, signal } = {}) => fetch(API_URL + path, {
  method: "POST", signal,
  headers: {
    "content-type": "application/json", accept: "application/json, text/event-stream",
    ...(key ? { authorization: `Bearer ${key}` } : {}), ...headers,
  },
  body: typeof message === "string" ? message : JSON.stringify(message),
});

let next = 0;
export const message = (method, params) => ({ jsonrpc: "2.0", id: ++next, method, params });
export const toolCall = (name, given, meta) =>
  message("tools/call", { name, arguments: given, ...(meta ? { _meta: meta } : {}) });
