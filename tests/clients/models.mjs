// Features that need a language model, with the unmodified JavaScript client and a scripted model.
import assert from 'node:assert/strict';
import Firecrawl from '@mendable/firecrawl-js';

const { SITE_URL: site, API_KEY: apiKey, API_URL: apiUrl } = process.env;
const client = new Firecrawl({ apiKey, apiUrl });
const page = `${site}/article`;
const schema = {
  type: 'object',
  properties: { title: { type: 'string' }, metres: { type: 'integer' } },
  required: ['title', 'metres'],
};

const document = await client.scrape(page, { formats: [{ type: 'json', schema, prompt: 'title and height' }, 'summary'] });
assert.deepEqual(document.json, { title: 'How gannets dive', metres: 30 });
assert.equal(document.summary, 'Gannets dive from thirty metres.');
assert.equal(document.metadata.creditsUsed, 5);

const asked = await client.scrape(page, { formats: [{ type: 'question', question: 'How high?' }] });
assert.equal(asked.answer, 'Thirty metres.');

const tracking = { type: 'changeTracking', modes: ['json'], schema, tag: 'js' };
assert.equal((await client.scrape(page, { formats: ['markdown', tracking] })).changeTracking.changeStatus, 'new');
const tracked = (await client.scrape(page, { formats: ['markdown', tracking] })).changeTracking;
assert.equal(tracked.changeStatus, 'same');
assert.deepEqual(tracked.json, {});

const options = await client.crawlParamsPreview(site, 'Extract all blog posts and documentation');
assert.ok(options.includePaths.includes('blog/.*') && options.includePaths.includes('docs/.*'));
const job = await client.startCrawl(page, { prompt: 'the blog and the docs', limit: 1 });
assert.ok(['scraping', 'completed'].includes((await client.getCrawlStatus(job.id)).status));

console.log('all passed');
