// @mendable/firecrawl-js against the usage endpoints: values, not only shapes.
import assert from 'node:assert/strict';
import Firecrawl from '@mendable/firecrawl-js';

const apiUrl = process.env.API_URL;
const client = new Firecrawl({ apiKey: process.env.API_KEY, apiUrl });

const credits = await client.getCreditUsage();
assert.equal(credits.remainingCredits, credits.planCredits - 4);
const tokens = await client.getTokenUsage();
assert.equal(tokens.remainingTokens, tokens.planTokens);
const concurrency = await client.getConcurrency();
assert.equal(concurrency.concurrency, 0);
assert.ok(concurrency.maxConcurrency > 0);
const queue = await client.getQueueStatus();
assert.equal(queue.jobsInQueue, 0);
assert.ok(queue.mostRecentSuccess);
const history = await client.getCreditUsageHistorical(true);
assert.equal(history.periods[0].creditsUsed, 4);
assert.equal(history.periods[0].apiKey, 'first');
assert.ok((await client.getTokenUsageHistorical()).periods);

const wrong = new Firecrawl({ apiKey: 'gn-wrong', apiUrl });
await assert.rejects(() => wrong.getCreditUsage(), error => error.status === 401 && /Unauthorized: Invalid token/.test(error.message));
console.log('all passed');
