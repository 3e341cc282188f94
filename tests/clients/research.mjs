// @mendable/firecrawl-js against the research index with its starter corpus.
import assert from 'node:assert/strict';
import Firecrawl from '@mendable/firecrawl-js';

const { research } = new Firecrawl({ apiKey: process.env.API_KEY, apiUrl: process.env.API_URL });
const seed = 'doi:10.7554/elife.26957';

const found = await research.searchPapers('cell size control', { k: 5 });
assert.equal(found.results.length, 5);
assert.ok(found.results.some(result => /cell size/i.test(result.title)));
const { paper } = await research.getPaper(seed);
assert.match(paper.title, /Cell size sensing/);
const read = await research.getPaper(paper.paperId, { query: 'growth rate', k: 2 });
assert.ok(read.passages[0].text.length > 20);
const related = await research.similarPapers(seed, { intent: 'how cells sense their own size', k: 7, rerank: true, anchor: [paper.paperId] });
assert.equal(related.results.length, 7);
assert.deepEqual(Object.keys(related.results[0].signals).sort(), ['articleRank', 'seedOverlap', 'semantic', 'structural']);
assert.ok((await research.similarPapers(seed, { intent: 'size', mode: 'citers' })).results);

await assert.rejects(() => research.getPaper('doi:10.1/none'), error => error.status === 404);
await assert.rejects(() => research.similarPapers(seed, { intent: 'x', k: 501 }), error => error.status === 400);
console.log('all passed');
