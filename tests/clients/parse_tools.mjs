// The unmodified command line client and the unmodified MCP server, each with a file on this machine.
import assert from 'node:assert/strict';
import { spawn, execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { API_KEY: apiKey, API_URL: apiUrl } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'parse-tools-'));
const env = {
  PATH: process.env.PATH, HOME: folder, FIRECRAWL_API_URL: apiUrl, FIRECRAWL_API_KEY: apiKey,
  FIRECRAWL_NO_UPDATE_CHECK: '1', FIRECRAWL_NO_TELEMETRY: '1', FIRECRAWL_NO_ENDPOINT_FEEDBACK: '1', FIRECRAWL_NO_SEARCH_FEEDBACK: '1',
};
const packages = new URL('./node_modules/', import.meta.url).pathname;
const html = `<html><head><title>Report on gannets</title></head><body><nav>navigationword</nav><main><h1>Gannets</h1>
<p>They dive from thirty metres, see <a href="https://example.org/more">more</a>.</p></main></body></html>`;
const file = (name, content) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const page = file('report.html', html);
const letter = file('letter.rtf', '{\\rtf1\\ansi Dear reader, {\\b gannets} dive.\\par}');
const broken = file('broken.pdf', '%PDF-1.7\nnothing else');

// firecrawl parse
const cli = (...given) => new Promise(resolve => {
  const program = join(packages, 'firecrawl-cli/dist/index.js');
  execFile(process.execPath, [program, 'parse', ...given], { env, cwd: folder }, (error, stdout, stderr) => {
    resolve({ code: error?.code ?? 0, text: stdout, errors: stderr });
  });
});
const plain = await cli(page);
assert.equal(plain.code, 0, plain.errors);
assert.match(plain.text, /# Gannets/);
const json = await cli(page, '--format', 'markdown,links', '--json');
assert.deepEqual(JSON.parse(json.text).links, ['https://example.org/more'], json.text + json.errors);
assert.match((await cli(letter)).text, /gannets\*?\*? dive/);
const refused = await cli(broken);
assert.notEqual(refused.code, 0);
assert.match(refused.errors + refused.text, /Could not read the file/);

// firecrawl_parse, over standard input and output.
const server = spawn(process.execPath, [join(packages, 'firecrawl-mcp/dist/index.js')], { env, cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
const waiting = new Map();
createInterface({ input: server.stdout }).on('line', line => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
});
let last = 0;
const call = (method, params) => new Promise(resolve => {
  waiting.set(++last, resolve);
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
});
await call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'tests', version: '1' } });
server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
const parse = async given => (await call('tools/call', { name: 'firecrawl_parse', arguments: given })).result;
const parsed = await parse({
  filePath: page, formats: ['markdown', 'links'], onlyMainContent: true, redactPII: true, parsers: ['pdf'],
  pdfOptions: { maxPages: 3 }, storeInCache: true, maxAge: 1000, skipTlsVerification: true, proxy: 'auto',
});
assert.ok(!parsed.isError, JSON.stringify(parsed));
assert.match(parsed.content[0].text, /Gannets/);
const failed = await parse({ filePath: broken });
assert.ok(failed.isError, JSON.stringify(failed));
assert.match(failed.content[0].text, /PARSE_UNREADABLE_FILE/);
server.kill();
rmSync(folder, { recursive: true });
console.log('all passed');
