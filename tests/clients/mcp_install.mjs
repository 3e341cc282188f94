// `gannet mcp install` in a home folder with the settings of several applications.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { folder, GANNET } from "./mcp_tools.mjs";

const home = join(folder, "home");
const at = path => join(home, path);
const write = (path, text) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const read = path => readFileSync(at(path), "utf8");
const install = (...given) => new Promise(resolve => {
  const child = execFile(GANNET, ["mcp", "install", ...given], { env: { HOME: home, PATH: process.env.PATH }, cwd: folder }, (error, stdout, stderr) => {
    resolve({ code: error?.code ?? 0, text: stdout, errors: stderr });
  });
  child.stdin.end();
});

mkdirSync(home);
assert.equal((await install()).code, 1, "there is nothing to change");
write(".claude.json", '{"zeta": 1,\n   "mcpServers": {"other": {"command": "x"}}, "alpha": 2}\n');
write(".cursor/keep", "");
write(".codex/config.toml", '# mine\nmodel = "x"\n');
write(".gemini/settings.json", "// with a comment\n{}\n");
write(".config/opencode/opencode.json", "{}");
const listed = await install("--list");
assert.match(listed.text, /claude-code +here/);
assert.match(listed.text, /windsurf +-/);
const before = read(".claude.json");
const shown = await install("--dry-run");
assert.match(shown.text, /\+ .*"gannet"/);
assert.equal(read(".claude.json"), before, "nothing is written");
const asked = await install("claude-code");
assert.equal(asked.code, 1);
assert.match(asked.errors, /--yes/);
assert.equal(read(".claude.json"), before);

const done = await install("--yes", "--tools", "core");
assert.equal(done.code, 1, "one file could not be changed");
assert.match(done.errors, /Gemini.*left as it is/);
assert.equal(read(".gemini/settings.json"), "// with a comment\n{}\n");
const claude = JSON.parse(read(".claude.json"));
assert.deepEqual(claude.mcpServers.gannet.args, ["mcp", "--tools", "core"]);
assert.deepEqual(claude.mcpServers.other, { command: "x" });
assert.ok(read(".claude.json").endsWith(', "alpha": 2}\n'), "the rest is as it was");
const copy = readdirSync(home).find(name => name.startsWith(".claude.json.before-gannet-"));
assert.equal(read(copy), before);
assert.deepEqual(JSON.parse(read(".cursor/mcp.json")).mcpServers.gannet.args, ["mcp", "--tools", "core"]);
assert.match(read(".codex/config.toml"), /^# mine\nmodel = "x"\n\n\[mcp_servers\.gannet\]\n/);
assert.equal(JSON.parse(read(".config/opencode/opencode.json")).mcp.gannet.type, "local");
assert.ok(!existsSync(at(".codeium")), "applications that are not here stay away");
const again = await install("--yes", "--tools", "core", "claude-code", "codex");
assert.equal(again.code, 0, again.errors);
assert.match(again.text, /already there/);
assert.notEqual((await install("--yes", "no-such")).code, 0);
console.log("all passed");
