// Every view: no serious finding of axe-core in light and dark, nothing wider than a phone, small and fast enough.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { assert, eventually, importPapers, launch, person, Server, settled, startSite } from './ground.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const site = await startSite();
const server = new Server('views');
importPapers(server);
await server.start();
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
const lastCheck = (number) =>
  eventually('the check ends', async () => {
    const { data } = await server.api(`/v2/monitor/${monitor.data.id}/checks`);
    return data.length >= number && data[0].status === 'completed' && data[0].id;
  });
await server.api(`/v2/monitor/${monitor.data.id}/run`, {});
await lastCheck(1);
site.pages['/shop/small'] = site.pages['/shop/small'].replace('$12.00', '$19.50');
await server.api(`/v2/monitor/${monitor.data.id}/run`, {});
const check = await lastCheck(2);
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
  `agents/${run.id}?tab=sources`,
  'search?q=gannet',
  'papers?q=bird',
  'papers/doi%3A10.1%2F2',
  'sessions',
  'monitors',
  `monitors/${monitor.data.id}`,
  `monitors/${monitor.data.id}/${check}`,
  'parse',
  'keys',
  'webhooks',
  'audit',
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
  const title = await tab
    .locator('h1')
    .first()
    .evaluate((one) => one.clientWidth);
  if (title < 180) faults.push(`${view}: its title has ${title} pixels`);
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

// Every view with an API that fails: a message with what to do, and nothing that goes on turning.
const FAILURES = [
  [
    'an error',
    (route) => route.fulfill({ status: 500, json: { success: false, error: 'The database is away.' } }),
    /database is away/,
  ],
  [
    'a page of a proxy',
    (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<html><h1>Bad gateway</h1></html>' }),
    /status 502|Bad Gateway/i,
  ],
  ['no network', (route) => route.abort('connectionrefused'), /does not answer/],
  [
    'an answer that is none',
    (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<p>Hello' }),
    /cannot be read/,
  ],
];
await Promise.all(
  FAILURES.map(async ([what, fail, message]) => {
    const who = await person(browser, server);
    for (const pattern of ['**/v2/**', '**/admin/**', '**/health'])
      await who.tab.route(pattern, (route) =>
        route.request().url().endsWith('/admin/sign-in') ? route.fallback() : fail(route),
      );
    for (const view of VIEWS.filter((one) => one !== 'nonsense')) {
      await who.go(`#/${view}`);
      const shown = await who.tab
        .getByRole('alert')
        .filter({ hasText: message })
        .first()
        .waitFor({ timeout: 20_000 })
        .then(
          () => true,
          () => false,
        );
      // What is asked for one after the other ends a moment later.
      const turning = await eventually(
        'nothing turns',
        async () => (await who.tab.locator('main .loading').count()) === 0,
      ).then(
        () => false,
        () => true,
      );
      const text = (await who.tab.locator('main').innerText()).slice(0, 300);
      if (!shown) faults.push(`${view}, ${what}: no message: ${text}`);
      if (turning) faults.push(`${view}, ${what}: it goes on loading: ${text}`);
      const help = await who.tab
        .getByRole('alert')
        .first()
        .innerText()
        .catch(() => '');
      if (!/again|Check that|Reload/.test(help)) faults.push(`${view}, ${what}: nothing to do: ${help}`);
    }
    const others = who.faults.filter((fault) => !/ApiError|does not answer|EventSource/.test(fault));
    faults.push(...others.map((fault) => `${what}: ${fault}`));
    await who.context.close();
  }),
);
{
  // A sign-in that ended leads to the sign-in, from every view.
  const who = await person(browser, server);
  await who.go('#/home');
  for (const pattern of ['**/v2/**', '**/admin/**'])
    await who.tab.route(pattern, (route) =>
      route.request().url().endsWith('/admin/sign-in')
        ? route.fallback()
        : route.fulfill({ status: 401, json: { success: false, error: 'Unauthorized: Invalid token' } }),
    );
  for (const view of ['activity', 'crawls', 'agents', 'monitors', 'sessions', 'keys', 'settings', 'docs']) {
    await who.go(`#/${view}`);
    await who.tab.reload();
    await who.tab.getByLabel('API key').waitFor();
  }
  // An answer that never comes is given up.
  await who.tab.unrouteAll();
  await who.tab.clock.install();
  await who.tab.route('**/v2/monitor?*', () => {});
  await who.tab.goto(`${server.base}/#/monitors`);
  await who.tab.reload();
  await who.tab.locator('main .loading').waitFor();
  await who.tab.clock.fastForward(31_000);
  await who.tab.getByRole('alert').getByText('did not answer within 30 seconds').waitFor();
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
  // By the page's own clock, from the start of the navigation: the test's clock has Playwright's rounds in it too.
  await who.tab.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const there = [...document.querySelectorAll('h2')].some(
        (heading) => heading.textContent === 'First steps',
      );
      if (!there) return;
      window.usableAfter = performance.now();
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  });
  await who.go('#/home');
  await who.tab.getByRole('heading', { name: 'First steps' }).waitFor();
  const took = Math.round(await who.tab.evaluate(() => window.usableAfter));
  await settled(who.tab);
  console.log(`first view: ${bytes} bytes, ${requests.size} requests, usable after ${took} ms`);
  if (bytes > 60_000) faults.push(`the first view has ${bytes} bytes`);
  if (requests.size > 12)
    faults.push(`the first view makes ${requests.size} requests: ${[...requests].join(' ')}`);
  await who.context.close();
}

await browser.close();
await server.stop();
site.close();
assert(faults.length === 0, faults.join('\n'));
console.log('all passed');
