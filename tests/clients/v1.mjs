// The v1 client of @mendable/firecrawl-js against the test site: every method, with assertions on content.
import assert from 'node:assert/strict';
import Firecrawl from '@mendable/firecrawl-js';

const { API_URL: apiUrl, API_KEY: apiKey, SITE_URL: site } = process.env;
const client = new Firecrawl({ apiKey, apiUrl }).v1;
const schema = { type: 'object', properties: { title: { type: 'string' } } };
const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
const pages = ['/site/', '/site/one', '/site/three', '/site/two'].map((path) => `${site}${path}`);

function wholeSite(job) {
  assert.ok(job.success && job.status === 'completed' && job.completed === 4, JSON.stringify(job));
  assert.deepEqual(job.data.map((page) => page.metadata.sourceURL).sort(), pages);
}

const one = await client.scrapeUrl(`${site}/site/one`, { formats: ['markdown', 'extract'], extract: { schema } });
assert.ok(one.success && one.markdown.includes('word-site-oneword') && one.extract);
await assert.rejects(() => client.scrapeUrl(`${site}/site/one`, { formats: [{ type: 'json' }] }), /formats/);

wholeSite(await client.crawlUrl(`${site}/site/`, { limit: 10, ignoreSitemap: true }, 1));
const started = await client.asyncCrawlUrl(`${site}/site/`, { limit: 10 });
assert.match(started.url, /\/v1\/crawl\//);
let state;
while ((state = await client.checkCrawlStatus(started.id)).status === 'scraping') await pause();
wholeSite(await client.checkCrawlStatus(started.id, true));
assert.deepEqual((await client.checkCrawlErrors(started.id)).robotsBlocked, [`${site}/site/secret/plan`]);
await assert.rejects(() => client.cancelCrawl(started.id));

const watcher = await client.crawlUrlAndWatch(`${site}/site/`, { limit: 10 });
const documents = [];
watcher.addEventListener('document', (event) => documents.push(event.detail));
await new Promise((resolve, reject) => {
  watcher.addEventListener('done', resolve);
  watcher.addEventListener('error', (event) => reject(new Error(JSON.stringify(event.detail))));
});
assert.equal(documents.length, 4);

assert.ok((await client.mapUrl(`${site}/site/`, {})).links.includes(`${site}/site/one`));
const batch = await client.batchScrapeUrls([`${site}/site/one`], { formats: ['markdown'] }, 1);
assert.ok(batch.data[0].markdown.includes('word-site-oneword'));
const second = await client.asyncBatchScrapeUrls([`${site}/site/two`], { formats: ['markdown'] });
while ((await client.checkBatchScrapeStatus(second.id)).status === 'scraping') await pause();
assert.deepEqual((await client.checkBatchScrapeErrors(second.id)).errors, []);
assert.ok((await client.search('word-site-oneword', { limit: 3 })).data.length > 0);
assert.ok((await client.extract([`${site}/site/one`], { schema })).data);
const extraction = await client.asyncExtract([`${site}/site/one`], { schema });
while ((await client.getExtractStatus(extraction.id)).status === 'processing') await pause();

assert.ok((await client.getCreditUsage()).data.remaining_credits > 0);
assert.ok((await client.getTokenUsage()).data.remaining_tokens > 0);
assert.ok((await client.getCreditUsageHistorical()).periods);
assert.ok((await client.getTokenUsageHistorical()).periods);
assert.ok((await client.getQueueStatus()).success);

const overview = await client.generateLLMsText(`${site}/site/`, { maxUrls: 10 });
assert.ok(overview.data.llmstxt.includes(`(${site}/site/one)`), JSON.stringify(overview));
const research = await client.deepResearch('word-site-oneword', { maxDepth: 1 });
assert.ok(research.success && typeof research.data.finalAnalysis === 'string', JSON.stringify(research));
console.log('all passed');
process.exit(0);
