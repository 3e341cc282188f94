// @mendable/firecrawl-js: every way to hand over a file, the options of a parse, its errors; and early errors as Node's
// fetch sees them, whatever the size of what it sends.
import assert from 'node:assert/strict';
import Firecrawl from '@mendable/firecrawl-js';

const { API_KEY: apiKey, API_URL: apiUrl } = process.env;
const client = new Firecrawl({ apiKey, apiUrl });

const html = `<html><head><title>Report on gannets</title></head><body><nav><ul><li><a href="https://example.org/">navigationword</a></li></ul></nav><main><h1>Gannets</h1>
<p>They dive from thirty metres. Write to diver@example.org or see <a href="https://example.org/more">more</a>.</p>
<p>Northern gannets are seabirds of the Atlantic. They nest in large colonies on cliffs and islands, and return to the
same nest every year. A pair raises one chick, which leaves the colony after three months and spends years at sea.</p>
<p>Their eyes see the fish from above, and the air sacs under their skin soften the blow when they hit the water.</p>
<table><tr><th>Name</th><th>Depth</th></tr><tr><td>Cellword</td><td>12 m</td></tr></table></main></body></html>`;

// Ways to hand over a file.
const bytes = new TextEncoder().encode(html);
for (const data of [html, Buffer.from(html), bytes, bytes.buffer, new Blob([html], { type: 'text/html' })]) {
  const document = await client.parse({ data, filename: 'report.html', contentType: 'text/html' });
  assert.match(document.markdown, /# Gannets/);
  assert.doesNotMatch(document.markdown, /navigationword/);
  assert.equal(document.metadata.creditsUsed, 1);
  assert.equal(document.metadata.sourceFile, 'report.html');
  assert.ok(document.metadata.scrapeId);
}

// Options.
const page = await client.parse({ data: html, filename: 'report.html', contentType: 'text/html' }, {
  formats: ['markdown', 'html', 'rawHtml', 'links', { type: 'highlights', query: 'how deep do they dive?' }],
  onlyMainContent: false, timeout: 60000, proxy: 'auto',
});
assert.match(page.markdown, /navigationword/);
assert.match(page.html, /<table/);
assert.match(page.rawHtml, /<nav>/);
assert.ok(page.links.includes('https://example.org/more'));
const part = await client.parse({ data: html, filename: 'report.html' }, { includeTags: ['table'], redactPII: true, zeroDataRetention: true });
assert.match(part.markdown, /Cellword/);
assert.doesNotMatch(part.markdown, /metres/);

// Errors.
const refusal = async (file, options) => client.parse(file, options).then(() => assert.fail('it was parsed'), error => error);
const program = await refusal({ data: Buffer.from('MZ\x90\x00\x03'.repeat(40), 'latin1'), filename: 'a.exe' });
assert.equal(program.status, 400);
assert.equal(program.code, 'UNSUPPORTED_FILE_TYPE');
const options = await refusal({ data: html, filename: 'a.html' }, { headers: { a: 'b' } });
assert.equal(options.code, 'PARSE_UNSUPPORTED_OPTIONS');
assert.match(options.message, /headers/);
for (const local of [{ waitFor: 5 }, { actions: [] }, { mobile: true }, { location: {} }, { maxAge: 1 }, { formats: ['screenshot'] }]) {
  assert.match((await refusal({ data: html, filename: 'a.html' }, local)).message, /parse/i);
}
const stranger = new Firecrawl({ apiKey: 'gn-wrong', apiUrl });
const unknown = await stranger.parse({ data: html, filename: 'a.html' }).then(() => assert.fail('accepted'), error => error);
assert.equal(unknown.status, 401);

// An upload in two steps: the bytes are sent without a key.
const post = (path, body) => fetch(apiUrl + path, {
  method: 'POST', headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }, body: JSON.stringify(body),
}).then(response => response.json());
const { data: upload } = await post('/v2/parse/upload-url', { filename: 'report.html', contentType: 'text/html', declaredSizeBytes: html.length });
const { method, headers } = upload;
assert.deepEqual(await (await fetch(upload.uploadUrl, { method, headers, body: html })).json(), { success: true });
const parsed = await post('/v2/parse', { uploadRef: upload.uploadRef, formats: ['markdown'], origin: 'mcp' });
assert.match(parsed.data.markdown, /# Gannets/);
assert.equal((await post('/v2/parse', { uploadRef: upload.uploadRef })).code, 'PARSE_UPLOAD_USED');

// Errors that are known before the body was read, 200 of them: Node must see each.
const send = (path, method, key, body) => fetch(apiUrl + path, { method, headers: { authorization: `Bearer ${key}` }, body });
const form = (size, first) => {
  const form = new FormData();
  if (first) form.append(first, 'x');
  form.append('file', new Blob([new Uint8Array(size)], { type: 'application/octet-stream' }), 'a.bin');
  return form;
};
let seen = 0;
for (let round = 0; round < 14; round++) {
  for (const size of [10, 10_000, 1_000_000, 20_000_000]) {
    const cases = [
      [401, '/v2/parse', 'POST', 'gn-wrong', () => form(size)],
      [400, '/v2/parse', 'POST', apiKey, () => form(size, 'unknown')],
      [404, '/v2/nowhere', 'POST', apiKey, () => form(size)],
      [405, '/v2/parse', 'PUT', apiKey, () => form(size)],
    ];
    // The large ones are sent often enough.
    if (size === 20_000_000 && round > 9) continue;
    for (const [status, path, method, key, body] of cases) {
      const response = await send(path, method, key, body());
      const answer = await response.json();
      assert.equal(response.status, status, JSON.stringify(answer));
      assert.equal(answer.success, false);
      seen++;
    }
  }
}
assert.ok(seen >= 200, `${seen}`);
console.log(`${seen} early errors seen; all passed`);
