// @mendable/firecrawl-js against a server without a model: every method for agent runs and extracts, with assertions on content.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import Firecrawl from '@mendable/firecrawl-js';

const { API_KEY: apiKey, API_URL: apiUrl, SITE_URL: site, OTHER_KEY: other } = process.env;
const client = new Firecrawl({ apiKey, apiUrl });
const stranger = new Firecrawl({ apiKey: other, apiUrl });
const facts = { founded: 1987, employees: 42 };
const schema = { type: 'object', properties: { founded: { type: 'integer' }, employees: { type: 'integer' } }, required: ['founded', 'employees'] };
const prompt = 'When was it founded, how many employees?';
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const ended = async id => {
  for (;;) {
    const status = await client.getAgentStatus(id);
    if (status.status !== 'processing') return status;
    await pause(100);
  }
};
const completed = run => {
  assert.deepEqual([run.success, run.status, run.data], [true, 'completed', facts]);
  assert.ok(run.creditsUsed >= 1 && Date.parse(run.expiresAt) > Date.now() && run.model);
};
const fails = (promise, status, words) => assert.rejects(promise, error => {
  assert.equal(error.status, status, error.message);
  assert.match(error.message, words);
  return true;
});

// Agent runs.
const started = await client.startAgent({
  urls: [`${site}/company`], prompt, schema, integration: 'tests', maxCredits: 50, strictConstrainToURLs: true, model: 'spark-1-mini',
  effort: 'low', webhook: { url: 'https://hooks.test/agent', events: ['completed', 'failed'] }, mode: 'extract',
  threatProtection: { blacklist: ['evil.test'] }, auditMetadata: { username: 'ann' }, exchange: { enabled: false },
});
assert.ok(started.success && started.id && started.threadId && started.threadTurn === 1);
const run = await ended(started.id);
completed(run);
assert.deepEqual([run.effort, run.threadId, run.mode], ['low', started.threadId, 'extract']);
completed(await client.agent({ urls: [`${site}/company`], prompt, schema, pollInterval: 1, timeout: 60 }));

const trace = await client.getAgentTrace(started.id);
const kinds = trace.events.map(event => event.type);
assert.deepEqual([kinds[0], kinds.at(-1), trace.events.at(-1).outcome], ['run.started', 'run.finished', 'succeeded']);
const artifact = trace.events.findLast(event => event.type === 'artifact.updated').artifact;
const snapshot = await client.getAgentSnapshot(started.id, artifact.snapshotId);
assert.deepEqual([snapshot.snapshotId, JSON.parse(snapshot.snapshot)], [artifact.snapshotId, facts]);

// Threads.
const second = await client.startAgent({ prompt: 'Once more: founded, employees?', threadId: started.threadId });
assert.deepEqual([second.threadId, second.threadTurn], [started.threadId, 2]);
completed(await ended(second.id));
const { thread } = await client.getAgentThread(started.threadId, { includeData: true });
assert.deepEqual([thread.status, thread.runs.map(one => one.turn), thread.runs[1].data], ['idle', [1, 2], facts]);
const chat = await client.agent({ urls: [`${site}/company`], prompt: 'When was Gannet Feeders founded?', mode: 'chat', pollInterval: 1 });
assert.deepEqual([chat.status, chat.data], ['completed', null]);
assert.ok(chat.message);

// Cancelling, and errors.
const hanging = await client.startAgent({ urls: [`${site}/hang/1`], prompt: 'What is there?' });
await fails(client.startAgent({ prompt: 'and?', threadId: hanging.threadId }), 409, /unfinished/);
assert.equal((await client.getAgentTrace(hanging.id, { liveView: true })).events[0].type, 'run.started');
assert.equal(await client.cancelAgent(hanging.id), true);
const cancelled = await ended(hanging.id);
assert.deepEqual([cancelled.status, cancelled.creditsUsed, cancelled.stopReason], ['failed', 0, 'cancelled']);
await fails(client.cancelAgent(hanging.id), 409, /Agent already finished/);
const limited = await client.agent({ urls: [`${site}/walk/1`], prompt, schema, maxCredits: 1, pollInterval: 1 });
assert.deepEqual([limited.status, limited.creditsUsed, limited.stopReason], ['failed', 0, 'credit_limit_reached']);
await fails(client.getAgentStatus('x'), 400, /Job ID must be a valid UUID/);
await fails(client.getAgentStatus(randomUUID()), 404, /Agent job not found/);
await fails(stranger.getAgentStatus(started.id), 404, /Agent job not found/);
await fails(client.getAgentSnapshot(started.id, 'x'), 400, /Invalid snapshot ID/);
await fails(client.getAgentSnapshot(started.id, randomUUID()), 404, /Snapshot not found/);
await fails(client.getAgentThread(randomUUID()), 404, /Thread not found/);
await fails(client.startAgent({ prompt: 'x', schema: { type: 'nothing' } }), 400, /Invalid JSON schema: /);

// The list.
const listed = await client.listAgents();
assert.deepEqual([listed.agents.length, listed.next, listed.agents.at(-1).id], [6, undefined, started.id]);
assert.deepEqual((await client.listAgents({ before: 1 })).agents, []);

// Extractions.
const extract = await client.extract({ urls: [`${site}/company`], prompt: 'Founded and employees', schema, pollInterval: 1, timeout: 60 });
assert.deepEqual([extract.success, extract.status, extract.data], [true, 'completed', facts]);
const begun = await client.startExtract({ urls: [`${site}/company`], schema });
let status = await client.getExtractStatus(begun.id);
while (status.status === 'processing') {
  await pause(100);
  status = await client.getExtractStatus(begun.id);
}
assert.deepEqual(status.data, facts);
console.log('all passed');
