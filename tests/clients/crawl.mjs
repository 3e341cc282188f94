// @mendable/firecrawl-js against the test site: every method for crawls, batches, maps and watching, with assertions on content.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import Firecrawl from '@mendable/firecrawl-js';

const { API_KEY: apiKey, API_URL: apiUrl, SITE_URL: site } = process.env;
const client = new Firecrawl({ apiKey, apiUrl });
const pages = ['/site/', '/site/one', '/site/three', '/site/two'].map(path => site + path);
const release = count => fetch(`${site}/release/${count}`);
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const sources = job => job.data.map(document => document.metadata.sourceURL);
const wholeSite = job => {
  assert.deepEqual([job.status, job.completed, job.total, job.creditsUsed], ['completed', 4, 5, 4]);
  assert.deepEqual(sources(job).sort(), pages);
  for (const document of job.data) {
    const word = `word${document.metadata.sourceURL.slice(site.length).replaceAll('/', '-')}word`;
    assert.ok(document.markdown.includes(word), document.markdown);
  }
  assert.ok(Date.parse(job.expiresAt) > Date.now());
};
const siteErrors = ({ errors, robotsBlocked }) => {
  assert.deepEqual(errors.map(error => [error.url, error.code]), [[`${site}/site/broken`, 'SCRAPE_SITE_ERROR']]);
  assert.deepEqual(robotsBlocked, [`${site}/site/secret/plan`]);
};
const fails = (promise, status, words) => assert.rejects(promise, error => {
  assert.equal(error.status, status, error.message);
  assert.match(error.message, words);
  return true;
});

// Crawls.
const job = await client.crawl(`${site}/site/`, { limit: 20, pollInterval: 1, timeout: 60 });
wholeSite(job);
wholeSite(await client.getCrawlStatus(job.id));
wholeSite(await client.checkCrawlStatus(job.id));
wholeSite(await client.crawlUrl(`${site}/site/`, { limit: 20, pollInterval: 1 }));
siteErrors(await client.getCrawlErrors(job.id));
siteErrors(await client.checkCrawlErrors(job.id));
await fails(client.cancelCrawl(job.id), 409, /already completed/);
const every = await client.crawl(`${site}/site/`, {
  limit: 3, maxDiscoveryDepth: 1, sitemap: 'skip', includePaths: ['^/site/'], excludePaths: ['three'], ignoreQueryParameters: true,
  deduplicateSimilarURLs: true, crawlEntireDomain: true, allowSubdomains: true, allowExternalLinks: false, robotsUserAgent: 'somebody',
  regexOnFullURL: false, maxConcurrency: 2, delay: 0, zeroDataRetention: false, integration: 'x', pollInterval: 1,
  scrapeOptions: { formats: ['markdown', 'links'], onlyMainContent: false },
});
assert.equal(every.completed, 3);
assert.ok(every.data.every(document => document.links) && !sources(every).some(source => source.includes('three')));
const page = await client.getCrawlStatus(job.id, { autoPaginate: false });
assert.deepEqual([page.data.length, page.next], [4, null]);

const running = await client.startCrawl(`${site}/held/`, { limit: 9 });
assert.equal(running.url, `${apiUrl}/v2/crawl/${running.id}`);
const { crawls } = await client.getActiveCrawls();
const listed = crawls.find(crawl => crawl.id === running.id);
assert.deepEqual([listed.url, listed.options.limit], [`${site}/held/`, 9]);
assert.ok(listed.teamId);
const before = Date.now();
assert.equal((await client.getCrawlStatus(running.id)).status, 'scraping');
assert.ok(Date.now() - before < 2000, 'the status of a running crawl is one answer');
assert.equal(await client.cancelCrawl(running.id), true);
assert.equal((await client.getCrawlStatus(running.id)).status, 'cancelled');
const begun = await client.asyncCrawlUrl(`${site}/alone`, { limit: 1 });
while ((await client.getCrawlStatus(begun.id)).status === 'scraping') await pause(100);
await fails(client.getCrawlErrors('invalid-job-id-12345'), 400, /Invalid job ID/);
await fails(client.getCrawlStatus(randomUUID()), 404, /Job not found/);
await fails(client.startCrawl(`${site}/site/`, { includePaths: ['('] }), 400, /includePaths/);
// Without a model a prompt is read by rules, and the response says so.
const preview = await client.crawlParamsPreview(`${site}/site/`, 'only the blog, at most 7 pages');
assert.ok(preview.includePaths.includes('blog/.*') && preview.limit === 7, JSON.stringify(preview));

// Batches.
const urls = [`${site}/site/one`, `${site}/site/two`];
const batch = await client.batchScrape([...urls, urls[0]], { options: { formats: ['markdown'] }, pollInterval: 1, timeout: 60 });
assert.deepEqual([batch.status, sources(batch).sort()], ['completed', urls]);
assert.equal((await client.batchScrapeUrls(urls, { pollInterval: 1 })).completed, 2);
const started = await client.startBatchScrape([...urls, 'nonsense'], { ignoreInvalidURLs: true, idempotencyKey: randomUUID(), maxConcurrency: 1 });
assert.deepEqual(started.invalidURLs, ['nonsense']);
while ((await client.getBatchScrapeStatus(started.id)).status === 'scraping') await pause(100);
assert.equal((await client.checkBatchScrapeStatus(started.id)).completed, 2);
await client.startBatchScrape([`${site}/site/three`], { appendToId: started.id });
while ((await client.getBatchScrapeStatus(started.id)).data.length < 3) await pause(100);
assert.deepEqual(await client.getBatchScrapeErrors(started.id), { errors: [], robotsBlocked: [] });
assert.deepEqual(await client.checkBatchScrapeErrors(started.id), { errors: [], robotsBlocked: [] });
const held = await client.asyncBatchScrapeUrls([`${site}/held/z`]);
assert.equal(await client.cancelBatchScrape(held.id), true);
await fails(client.startBatchScrape(['nonsense']), 400, /No valid URLs provided/);
await fails(client.startBatchScrape(urls, { appendToId: randomUUID() }), 404, /Job not found/);

// Large results come in pages, which the client follows on its own.
const large = await client.crawl(`${site}/large/`, { pollInterval: 1, scrapeOptions: { formats: ['markdown', 'rawHtml'] } });
assert.equal(large.data.length, 8);
assert.ok((await client.getCrawlStatus(large.id, { autoPaginate: false })).next);

// Maps.
const { links } = await client.map(`${site}/site/`, { limit: 10, search: 'three' });
assert.equal(links[0].url, `${site}/site/three`);
assert.ok((await client.mapUrl(`${site}/site/`)).links.length > 3);

// Watching: over the socket, and without one.
const watch = async (id, options) => {
  const watcher = client.watcher(id, options);
  const snapshots = [], documents = [];
  watcher.on('snapshot', snapshot => {
    if (!snapshots.length) release(6);
    snapshots.push(snapshot.status);
  });
  watcher.on('document', document => documents.push(document.metadata.sourceURL));
  const final = new Promise(resolve => { watcher.on('done', resolve); watcher.on('error', resolve); });
  await watcher.start();
  watcher.close();
  return { final: await final, snapshots, documents };
};
assert.equal(typeof globalThis.WebSocket, 'function', 'Node has sockets of its own');
for (const [kind, start] of [
  ['crawl', () => client.startCrawl(`${site}/held/`, { limit: 9 })],
  ['batch', () => client.startBatchScrape([0, 1, 2, 3, 4, 5].map(number => `${site}/held/${number}`))],
]) {
  const { final, snapshots, documents } = await watch((await start()).id, { kind, pollInterval: 1, timeout: 60 });
  assert.deepEqual([final.status, final.data.length], ['completed', 6], JSON.stringify(final));
  assert.equal(snapshots[0], 'scraping');
  assert.equal(snapshots.at(-1), 'completed');
  assert.equal(new Set(documents).size, 6);
}
console.log('all passed');
