// The unmodified command line client and the unmodified MCP server, each with a file on this machine.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firecrawl, folder, startMcp } from './firecrawl_tools.mjs';

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
const cli = (...given) => firecrawl('parse', ...given);
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
const mcp = await startMcp();
const parse = given => mcp.call('firecrawl_parse', given);
const parsed = await parse({
  filePath: page, formats: ['markdown', 'links'], onlyMainContent: true, redactPII: true, parsers: ['pdf'],
  pdfOptions: { maxPages: 3 }, storeInCache: true, maxAge: 1000, skipTlsVerification: true, proxy: 'auto',
});
assert.ok(!parsed.isError, JSON.stringify(parsed));
assert.match(parsed.content[0].text, /Gannets/);
const failed = await parse({ filePath: broken });
assert.ok(failed.isError, JSON.stringify(failed));
assert.match(failed.content[0].text, /PARSE_UNREADABLE_FILE/);
mcp.stop();
console.log('all passed');
