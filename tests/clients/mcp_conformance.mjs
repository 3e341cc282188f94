// The scenarios of the official conformance suite that need no tools of its own. A server without sessions is only warned
// about in those for streams that are taken up again.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { API_URL, folder, packages } from "./mcp_tools.mjs";

const program = join(packages, "@modelcontextprotocol/conformance/dist/index.js");
const scenario = name => new Promise(resolve => {
  const given = [program, "server", "--url", `${API_URL}/mcp`, "--scenario", name];
  execFile(process.execPath, given, { cwd: folder, timeout: 60000 }, (error, stdout, stderr) => {
    resolve({ name, code: error?.code ?? 0, text: stdout + stderr });
  });
});
const passing = ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "completion-complete", "dns-rebinding-protection"];
const warned = ["server-sse-polling", "server-sse-multiple-streams"];
for (const { name, code, text } of await Promise.all([...passing, ...warned].map(scenario))) {
  assert.equal(code, 0, `${name}: ${text}`);
  assert.match(text, passing.includes(name) ? /Passed: [1-9]\d*\/[1-9]\d*, 0 failed, 0 warnings/ : /Passed: \d+\/\d+, 0 failed/, name);
}
console.log("all passed");
