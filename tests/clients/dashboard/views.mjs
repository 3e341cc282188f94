// Every view: no serious finding of axe-core in light and dark, nothing wider than a phone, small and fast enough, and
// long lists that stay smooth.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { assert, eventually, launch, person, Server, settled, startSite } from './ground.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const site = await startSite();
const server = await new Server('views').start();
const browser = await launch();
const faults = [];

// Something to see in every view.
await server.api('/v2/scrape', { url: `${site.base}/` });
const crawl = await server.api('/v2/crawl', { url: `${site.base}/` });
const run = await server.api('/v2/agent', {
  prompt: 'Every feeder with its name and price',
  urls: [`${site.base}/shop/`],
  effort: 'low',
  schema: {
    type: 'object',
    properties: {
      feeders: {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' }, price: { type: 'number' } } },
      },
    },
  },
});
const monitor = await server.api('/v2/monitor', {
  name: 'Feeders',
  goal: 'prices',
  schedule: { text: 'every 30 minutes' },
  targets: [{ type: 'scrape', urls: [`${site.base}/shop/small`] }],
});
await server.api(`/v2/monitor/${monitor.data.id}/run`, {});
await eventually(
  'the crawl ends',
  async () => (await server.api(`/v2/crawl/${crawl.id}`)).status === 'completed' || undefined,
);
await eventually(
  'the run ends',
  async () => (await server.api(`/v2/agent/${run.id}`)).status !== 'processing',
);

const VIEWS = [
  'home',
  'playground/scrape',
  'playground/crawl',
  'activity',
  'crawls',
  `crawls/crawl/${crawl.id}`,
  'agents',
  `agents/${run.id}`,
  'search?q=gannet',
  'papers?q=bird',
  'sessions',
  'monitors',
  `monitors/${monitor.data.id}`,
  'parse',
  'keys',
  'webhooks',
  'settings',
  'docs',
  'nonsense',
];

async function examine(tab, view) {
  await tab.evaluate(axe);
  const report = await tab.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ['violations'], iframes: false }),
  );
  for (const one of report.violations.filter((found) => ['serious', 'critical'].includes(found.impact))) {
    faults.push(
      `${view}: ${one.id}: ${one.help}: ${one.nodes
        .slice(0, 3)
        .map((node) => `${node.html.slice(0, 160)} ${node.failureSummary.split('\n')[1] ?? ''}`)
        .join(' | ')}`,
    );
  }
}

async function notWide(tab, view) {
  const wide = await tab.evaluate(() => {
    const most = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= most) return null;
    return [...document.querySelectorAll('main *')]
      .filter(
        (one) =>
          one.getBoundingClientRect().right > most + 1 &&
          !one.closest('.scroll, .lanes, .tabs, pre, .prose table'),
      )
      .slice(0, 3)
      .map((one) => one.outerHTML.slice(0, 120));
  });
  if (wide) faults.push(`${view} is wider than a phone: ${wide.join(' | ')}`);
}

// Evaluating axe-core needs a policy that allows it; the pages themselves are tested with theirs in the journeys.
await Promise.all(
  [
    ['light', 1200],
    ['dark', 360],
  ].map(async ([scheme, width]) => {
    const who = await person(browser, server, {
      colorScheme: scheme,
      viewport: { width, height: 760 },
      bypassCSP: true,
    });
    for (const view of VIEWS) {
      await who.go(`#/${view}`);
      await settled(who.tab);
      await examine(who.tab, `${view}, ${scheme}`);
      if (width === 360) await notWide(who.tab, view);
    }
    await who.go('#/keys');
    await settled(who.tab);
    await who.tab.getByRole('button', { name: 'New key' }).click();
    await examine(who.tab, `new key, ${scheme}`);
    if (width === 360) {
      await who.go('#/home');
      await who.tab.getByRole('button', { name: 'Menu' }).click();
      await who.tab.getByRole('navigation', { name: 'Views' }).getByText('Activity').click();
      await who.tab.getByRole('heading', { name: 'Activity' }).waitFor();
      assert(
        !(await who.tab.getByRole('navigation', { name: 'Views' }).isVisible()),
        'the menu closes when a view is opened',
      );
    }
    faults.push(...who.faults);
    await who.context.close();
  }),
);
{
  const who = await person(browser, server, { signedIn: false, bypassCSP: true });
  await who.go('');
  await examine(who.tab, 'sign-in');
  await who.context.close();
}

// The first view over the wire.
{
  const who = await person(browser, server);
  const protocol = await who.context.newCDPSession(who.tab);
  await protocol.send('Network.enable');
  let bytes = 0;
  const requests = new Set();
  protocol.on(
    'Network.requestWillBeSent',
    ({ request }) => request.url.startsWith('http') && requests.add(request.url),
  );
  protocol.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  const started = Date.now();
  await who.go('#/home');
  await who.tab.getByRole('heading', { name: 'First steps' }).waitFor();
  const took = Date.now() - started;
  await settled(who.tab);
  console.log(`first view: ${bytes} bytes, ${requests.size} requests, usable after ${took} ms`);
  if (bytes > 60_000) faults.push(`the first view has ${bytes} bytes`);
  if (requests.size > 12)
    faults.push(`the first view makes ${requests.size} requests: ${[...requests].join(' ')}`);
  await who.context.close();
}

// Long lists: the server answers pages, and only what is in sight is in the document.
{
  const who = await person(browser, server);
  const id = (number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
  await who.tab.route('**/v2/team/activity*', (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor');
    const first = cursor ? Number(cursor.slice(-12)) + 1 : 0;
    const data = Array.from({ length: 100 }, (_, index) => ({
      id: id(first + index),
      endpoint: 'scrape',
      api_version: 'v2',
      created_at: new Date().toISOString(),
      target: `https://example.com/${first + index}`,
    }));
    route.fulfill({ json: { success: true, data, cursor: id(first + 99), has_more: first < 9900 } });
  });
  await who.tab.route(`**/v2/crawl/${crawl.id}/ledger*`, (route) => {
    const after = Number(new URL(route.request().url()).searchParams.get('after'));
    const data = Array.from({ length: 1000 }, (_, index) => ({
      number: after + index + 1,
      url: `https://example.com/${Math.floor((after + index) / 50)}/${after + index}`,
      depth: 1,
      state: 'completed',
      attempts: 1,
    }));
    route.fulfill({
      json: { success: true, data, next: after + 1000 < 5000 ? `${server.base}/next` : undefined },
    });
  });
  const scroll = () =>
    who.tab.evaluate(async () => {
      const box = document.querySelector('.rows');
      const frames = [];
      let last = performance.now();
      for (let step = 0; step < 60; step += 1) {
        box.scrollTop = (box.scrollHeight / 60) * step;
        await new Promise(requestAnimationFrame);
        frames.push(performance.now() - last);
        last = performance.now();
      }
      return {
        median: frames.sort((a, b) => a - b)[30],
        rows: document.querySelectorAll('.row').length,
        height: box.scrollHeight,
      };
    });
  await who.go('#/activity');
  for (let page = 0; page < (process.env.GANNET_TEST_SOAK ? 99 : 9); page += 1)
    await who.tab.getByRole('button', { name: 'Load older requests' }).click();
  const activity = await scroll();
  await who.go(`#/crawls/crawl/${crawl.id}`);
  await who.tab.locator('.rows').waitFor();
  const tree = await scroll();
  console.log(`activity: ${JSON.stringify(activity)}; crawl: ${JSON.stringify(tree)}`);
  for (const [name, found] of [
    ['activity', activity],
    ['crawl', tree],
  ]) {
    if (found.rows > 60) faults.push(`${name}: ${found.rows} rows in the document`);
    if (found.median > 50) faults.push(`${name}: ${found.median} ms for a frame`);
  }
  faults.push(...who.faults);
  await who.context.close();
}

await browser.close();
await server.stop();
site.close();
assert(faults.length === 0, faults.join('\n'));
console.log('all passed');
