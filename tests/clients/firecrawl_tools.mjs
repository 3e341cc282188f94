// The unmodified command line client and the unmodified MCP server, in a folder of their own, for the scripts beside this one.

import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

const packages = new URL("./node_modules/", import.meta.url).pathname;

export const folder = mkdtempSync(join(tmpdir(), "firecrawl-tools-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const env = {
  PATH: process.env.PATH, HOME: folder, FIRECRAWL_API_URL: process.env.API_URL, FIRECRAWL_API_KEY: process.env.API_KEY,
  FIRECRAWL_NO_UPDATE_CHECK: "1", FIRECRAWL_NO_TELEMETRY: "1", FIRECRAWL_NO_ENDPOINT_FEEDBACK: "1", FIRECRAWL_NO_SEARCH_FEEDBACK: "1",
};

/** Runs `firecrawl` to its end. */
export const firecrawl = (...given) => new Promise(resolve => {
  const program = join(packages, "firecrawl-cli/dist/index.js");
  const child = execFile(process.execPath, [program, ...given], { env, cwd: folder }, (error, stdout, stderr) => {
    resolve({ code: error?.code ?? 0, text: stdout, errors: stderr });
  });
  child.stdin.end();
});

/** Starts the MCP server over standard input and output. `call` gives the result of a tool. */
export async function startMcp() {
  const program = join(packages, "firecrawl-mcp/dist/index.js");
  const server = spawn(process.execPath, [program], { env, cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  createInterface({ input: server.stdout }).on("line", line => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  let last = 0;
  const write = message => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (method, params) => new Promise(resolve => {
    waiting.set(++last, resolve);
    write({ id: last, method, params });
  });
  await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "tests", version: "1" } });
  write({ method: "notifications/initialized" });
  const call = async (name, given) => (await request("tools/call", { name, arguments: given })).result;
  return { call, stop: () => server.kill() };
}
