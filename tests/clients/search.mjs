// @mendable/firecrawl-js against a server's own index: search with every option, developer sources, the catalogue of tools, feedback.
import assert from 'node:assert/strict';
import Firecrawl from '@mendable/firecrawl-js';

const { API_KEY: apiKey, API_URL: apiUrl, SITE_URL: site } = process.env;
const client = new Firecrawl({ apiKey, apiUrl });
const article = `${site}/article`;
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const urls = hits => hits.map(hit => hit.url);
const until = async (ask, done) => {
  for (const end = Date.now() + 30_000; ; await pause(100)) {
    const answer = await ask();
    if (done(answer)) return answer;
    assert.ok(Date.now() < end, JSON.stringify(answer));
  }
};
const fails = (promise, status, words) => assert.rejects(promise, error => {
  assert.equal(error.status, status, error.message);
  assert.match(error.message, words);
  return true;
});

// Search.
const found = await until(() => client.search('gannets dive'), ({ web }) => web.length > 0);
assert.equal(found.web[0].url, article);
assert.match(found.web[0].title, /gannets/i);
assert.ok(found.web[0].description && found.news === undefined && found.images === undefined);
const every = await client.search('gannets -puffins site:127.0.0.1', {
  sources: ['web', { type: 'news' }, 'images', 'alexandria'],
  domainTools: true,
  toolDetail: 'compact',
  excludeDomains: ['spam.example'],
  limit: 5,
  tbs: 'qdr:y',
  location: 'Edinburgh',
  country: 'GB',
  ignoreInvalidURLs: true,
  timeout: 30_000,
  highlights: false,
  enterprise: ['default'],
  threatProtection: { mode: 'manual-only', blacklist: ['spam.example'] },
  integration: '_e2e-test',
});
assert.deepEqual(urls(every.web), [article]);
assert.ok(Array.isArray(every.news) && Array.isArray(every.images));
assert.deepEqual(urls((await client.search('gannets', { includeDomains: ['127.0.0.1'] })).web), [article]);
assert.deepEqual((await client.search('gannets', { categories: ['github', { type: 'pdf' }] })).web, []);
const scraped = await client.search('gannets dive', { limit: 3, scrapeOptions: { formats: ['markdown', 'links'] } });
assert.match(scraped.web[0].markdown, /gannet/);
assert.ok(scraped.web[0].links.length > 0);
assert.equal(scraped.web[0].metadata.sourceURL, article);
assert.equal(scraped.web[0].position, 1);
await fails(client.search('x', { limit: 101 }), 400, /limit/);
await fails(client.search('x'.repeat(501)), 400, /query/);

// Developer sources.
await until(() => client.developerSearch('plunge'), ({ results }) => results.length === 6);
const pull = await client.developerSearch('plunge', {
  k: 20,
  passages: 5,
  types: ['pull_request', 'readme'],
  repos: ['sea/birds'],
  language: 'Rust',
  topic: ['dive', 'ocean'],
  license: 'MIT',
  minStars: 100,
  maxStars: 50_000,
  archived: false,
  fork: false,
});
assert.deepEqual(pull.results.map(({ id }) => id), ['pull_request:sea/birds#8']);
assert.deepEqual(pull.results[0].license, { state: 'licensed', spdx_id: 'MIT' });
assert.equal(pull.results[0].passages[0].citation_url, pull.results[0].url);
assert.deepEqual(pull.coverage, { doc: 'skipped', issue: 'skipped', pull_request: 'ok', readme: 'ok' });
assert.deepEqual(pull.repos, [{ repo: 'sea/birds', indexed: true, types: { issue: true, pullRequest: true, readme: true } }]);
const skills = await client.developerSearch('plunge', { sources: ['manual'], skills: 'only' });
assert.deepEqual(skills.results.map(({ url }) => url), ['https://docs.test/SKILL.md']);
await fails(client.developerSearch('plunge', { types: ['issue'], sources: ['manual'] }), 400, /can match none/);

// The catalogue of tools is empty.
assert.deepEqual(await client.findTools({ level: 'providers' }).then(({ items, total }) => [items, total]), [[], 0]);

// Feedback: the client does not return the ID of a search, so it is read over HTTP.
const searched = async () => {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${apiUrl}/v2/search`, { method: 'POST', headers, body: JSON.stringify({ query: 'gannets dive' }) });
  return (await answer.json()).id;
};
const id = await searched();
const good = { rating: 'good', valuableSources: [{ url: article, reason: 'it answers' }], querySuggestions: 'more birds' };
const thanked = await client.searchFeedback(id, good);
assert.ok(thanked.success && thanked.feedbackId && thanked.creditsRefunded === 0, JSON.stringify(thanked));
assert.equal((await client.searchFeedback(id, good)).alreadySubmitted, true);
const told = await client.feedback({ endpoint: 'search', jobId: await searched(), rating: 'bad', missingContent: [{ topic: 'terns', description: 'none' }], tags: ['birds'] });
assert.ok(told.success && told.feedbackId);
await fails(client.searchFeedback(await searched(), { rating: 'good' }), 400, /valuableSources/);
await fails(client.searchFeedback('01a1df48-9b84-770e-81ee-8cf45dd0a8de', good), 404, /./);

console.log('all passed');
