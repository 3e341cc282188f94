// @mendable/firecrawl-js against the test site: every format and option of a scrape, with assertions on content.
import assert from 'node:assert/strict';
import Firecrawl from '@mendable/firecrawl-js';

const { API_KEY: apiKey, API_URL: apiUrl, SITE_URL: site, TLS_SITE_URL: secure } = process.env;
const client = new Firecrawl({ apiKey, apiUrl });
const scrape = (path, options) => client.scrape(site + path, options);
const download = async address => Buffer.from(await (await fetch(address)).arrayBuffer());

// Formats.
const bare = await scrape('/article');
assert.match(bare.markdown, /firstword/);
assert.doesNotMatch(bare.markdown, /navigationword/);
assert.equal(bare.metadata.statusCode, 200);
assert.equal(bare.metadata.sourceURL, `${site}/article`);
const page = await scrape('/article', {
  formats: ['markdown', 'html', 'rawHtml', 'links', 'images', 'menu', { type: 'highlights', query: 'what depth do they reach?' },
    { type: 'attributes', selectors: [{ selector: 'time', attribute: 'datetime' }] }],
});
assert.match(page.markdown, /\| Cellword \| 31 m \| 12 m \|/);
assert.match(page.html, /<table/);
assert.match(page.rawHtml, /navigationword/);
assert.ok(page.links.includes(`${site}/puffins`) && page.images.includes(`${site}/images/dive.jpg`));
assert.match(page.highlights, /Depth/);
assert.deepEqual(page.attributes, [{ selector: 'time', attribute: 'datetime', values: ['2026-03-04'] }]);
assert.equal(page.menu.isMenu, false);
const { product } = await scrape('/product', { formats: ['product'] });
assert.equal(product.title, 'Storm jacket');
assert.equal(product.variants[0].price.amount, 149.5);
const { menu } = await scrape('/menu', { formats: ['menu'] });
assert.deepEqual(menu.sections.map(section => section.name), ['Soups', 'Mains']);
const { branding } = await scrape('/brand', { formats: ['branding'] });
assert.equal(branding.colors.background.toUpperCase(), '#FFFAF0');
const shot = await scrape('/form', { formats: [{ type: 'screenshot', fullPage: true, quality: 60, viewport: { width: 500, height: 400 } }] });
assert.equal((await download(shot.screenshot)).subarray(0, 2).toString('hex'), 'ffd8');
const track = { formats: ['markdown', { type: 'changeTracking', modes: ['git-diff'], tag: 'js' }] };
assert.equal((await scrape('/article', track)).changeTracking.changeStatus, 'new');
assert.equal((await scrape('/article', track)).changeTracking.changeStatus, 'same');

// Options.
assert.match((await scrape('/article', { onlyMainContent: false })).markdown, /navigationword/);
const part = await scrape('/article', { includeTags: ['.facts'], excludeTags: ['li:first-child'] });
assert.match(part.markdown, /Depth: 3/);
assert.doesNotMatch(part.markdown, /Height/);
assert.match((await scrape('/article', { removeBase64Images: false })).markdown, /data:image\/png/);
const asked = await scrape('/echo', { headers: { 'X-Berth': 'five' }, mobile: true, location: { country: 'DE', languages: ['de'] } });
assert.match(asked.markdown, /x-berth: five/);
assert.match(asked.markdown, /Mobile/);
assert.match(asked.markdown, /accept-language: de/);
const rendered = await scrape('/app', { waitFor: 50, blockAds: false, timeout: 30000 });
assert.match(rendered.markdown, /renderedword/);
assert.equal(rendered.metadata.engine, 'browser');
assert.match((await scrape('/pdf', { parsers: [] })).markdown, /^JVBERi/);
const redacted = await scrape('/private-data', { redactPII: { mode: 'accurate', entities: ['EMAIL', 'PHONE'], replaceStyle: 'tag' } });
assert.match(redacted.markdown, /<EMAIL>/);
assert.doesNotMatch(redacted.markdown, /berths@harbour/);
assert.match(redacted.markdown, /4111 1111/);
assert.match((await scrape('/article', { fastMode: true, proxy: 'auto', domainTools: true, toolDetail: 'full', integration: 'x' })).markdown, /firstword/);
assert.equal((await scrape('/etag', { maxAge: 0 })).metadata.cacheState, 'miss');
assert.equal((await scrape('/etag', { maxAge: 100000 })).metadata.cacheState, 'hit');
assert.equal((await scrape('/etag', { minAge: 0 })).metadata.cacheState, 'hit');
assert.equal((await scrape('/etag', { lockdown: true })).metadata.cacheState, 'hit');
assert.match((await client.scrape(`${secure}/article`, { skipTlsVerification: true, storeInCache: false, auditMetadata: { username: 'ada' } })).markdown, /firstword/);

// Actions and profiles.
const acted = await scrape('/form', { onlyMainContent: false, actions: [
  { type: 'click', selector: '#name' }, { type: 'write', text: 'Grace' }, { type: 'press', key: 'Enter' },
  { type: 'click', selector: '#late' }, { type: 'wait', selector: '#arrived' }, { type: 'scroll', direction: 'down' },
  { type: 'wait', milliseconds: 20 }, { type: 'screenshot', fullPage: true }, { type: 'scrape' },
  { type: 'executeJavascript', script: '1 + 1' }, { type: 'pdf', format: 'A4', landscape: true, scale: 0.5 },
] });
assert.match(acted.markdown, /submitted Grace/);
assert.deepEqual(acted.actions.javascriptReturns, [{ type: 'number', value: 2 }]);
assert.match(acted.actions.scrapes[0].html, /arrivedlate/);
assert.equal((await download(acted.actions.screenshots[0])).subarray(1, 4).toString(), 'PNG');
assert.equal((await download(acted.actions.pdfs[0])).subarray(0, 5).toString(), '%PDF-');
for (const before of [0, 1])
  assert.match((await scrape('/diary', { onlyMainContent: false, profile: { name: 'js' } })).markdown, new RegExp(`storage had ${before}, cookie had ${before}`));

// Failures.
const fails = (promise, status, code) => assert.rejects(promise, error => {
  assert.deepEqual([error.status, error.code], [status, code], error.message);
  return true;
});
await fails(scrape('/pdf'), 500, 'SCRAPE_UNSUPPORTED_FILE_ERROR');
await fails(scrape('/captcha'), 500, 'SCRAPE_ALL_ENGINES_FAILED');
await fails(scrape('/hang', { timeout: 1000 }), 408, 'SCRAPE_TIMEOUT');
await fails(scrape('/page/none', { minAge: 0 }), 404, 'SCRAPE_NO_CACHED_DATA');
await fails(scrape('/page/none', { lockdown: true }), 404, 'SCRAPE_LOCKDOWN_CACHE_MISS');
await fails(scrape('/article', { threatProtection: { mode: 'manual-only', blacklist: ['127.*'] } }), 403, 'unsafe_domain_blocked');
await fails(scrape('/injection', { checkPromptInjection: true }), 403, 'SCRAPE_PROMPT_INJECTION_DETECTED');
await fails(scrape('/article', { formats: [{ type: 'question', question: 'how deep?' }] }), 400, 'MODEL_NOT_CONFIGURED');
await fails(scrape('/article', { formats: ['video'] }), 400, 'SCRAPE_VIDEO_UNSUPPORTED_URL');
await fails(client.scrape(`${secure}/article`, { skipTlsVerification: false, maxAge: 0 }), 500, 'SCRAPE_SSL_ERROR');
await fails(client.scrape('http://10.1.2.3/'), 403, 'unsafe_domain_blocked');
await assert.rejects(client.scrape('http://no-such-host.invalid/'), /resolve/);

// The client itself waits for a page that takes longer than its deadline.
assert.match((await scrape('/dripping?ms=1500', { timeout: 1000, maxAge: 0 })).markdown, /lastword/);

// The URLs of the site.
const { links } = await client.map(`${site}/article`, { search: 'puffins', limit: 5 });
assert.equal(links[0].url, `${site}/puffins`);
assert.ok(links.length <= 5);
console.log('all passed');
