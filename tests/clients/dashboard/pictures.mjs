// Draws the pictures of docs/dashboard.md: every view, light and dark. Run by docs/dashboard/make.

import { mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { eventually, launch, person, Server, settled, startSite } from './ground.mjs';

const out = process.env.OUT;
mkdirSync(out, { recursive: true });
const site = await startSite();
const server = await new Server('pictures', { research_starter: 'on' }).start();
await server.stop();
fillUsage(`${server.folder}/gannet.db`);
await server.start();

/// Use of the last months, so that charts have something to show.
function fillUsage(file) {
  const database = new DatabaseSync(file);
  const { id: team } = database.prepare('SELECT id FROM teams LIMIT 1').get();
  const { id: key } = database.prepare('SELECT id FROM api_keys LIMIT 1').get();
  const day = 24 * 3_600_000;
  const today = Date.now() - (Date.now() % day);
  const period = database.prepare('INSERT INTO credit_periods (team_id, period_start, used) VALUES (?, ?, ?)');
  const usage = database.prepare(
    'INSERT INTO credit_usage (team_id, period_start, key_id, purpose, credits) VALUES (?, ?, ?, ?, ?)',
  );
  const months = new Map();
  for (let back = 100; back > 0; back -= 1) {
    const at = today - back * day;
    // More on weekdays, and a little more every week; the same at every run.
    const weekend = [0, 6].includes(new Date(at).getUTCDay());
    const credits = Math.round((weekend ? 40 : 160) * (1.4 - back / 200) * (1 + 0.3 * Math.sin(back * 1.7)));
    usage.run(team, at, key, 'scrape', Math.round(credits * 0.6));
    usage.run(team, at, key, 'crawl', Math.round(credits * 0.4));
    const date = new Date(at);
    const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
    months.set(month, (months.get(month) ?? 0) + Math.round(credits * 0.6) + Math.round(credits * 0.4));
  }
  for (const [month, used] of months) period.run(team, month, used);
  database.close();
}

const browser = await launch();
const urls = { shop: `${site.base}/shop/`, start: `${site.base}/` };

const schema = {
  type: 'object',
  properties: {
    feeders: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, price: { type: 'number' }, wood: { type: 'string' } },
        required: ['name'],
      },
    },
  },
};
await server.api('/v2/scrape', { url: urls.start });
const crawl = await server.api('/v2/crawl', { url: urls.start });
const run = await server.api('/v2/agent', {
  prompt: 'Every feeder with its name, price and wood',
  urls: [urls.shop],
  effort: 'low',
  schema,
});
const monitor = await server.api('/v2/monitor', {
  name: 'Price of the small feeder',
  goal: 'prices of feeders',
  schedule: { text: 'every 30 minutes' },
  targets: [{ type: 'scrape', urls: [`${urls.shop}small`] }],
});
const path = `/v2/monitor/${monitor.data.id}`;
const checks = async (number) =>
  eventually(
    'a check ends',
    async () => {
      const { data } = await server.api(`${path}/checks`);
      return data.length >= number && data[0].status === 'completed' && data[0].id;
    },
    60_000,
  );
await server.api(`${path}/run`, {});
await checks(1);
for (const [number, from, to] of [
  [2, 'Oak', 'Oak'],
  [3, '$12.00', '$14.00'],
  [4, 'Oak', 'Ash'],
  [5, 'Oak', 'Oak'],
  [6, '$14.00', '$19.50'],
]) {
  const page = site.pages['/shop/small'].replace(from, to);
  site.pages['/shop/small'] = number === 6 ? page.replace('a garden', 'a balcony or a roof') : page;
  await server.api(`${path}/run`, {});
  await checks(number);
}
const check = await checks(6);
const session = await server.api('/v2/browser', { ttl: 600 });
await server.api(`/v2/browser/${session.id}/execute`, {
  language: 'bash',
  code: `agent-browser open ${urls.start}`,
});
await server.api('/admin/keys', { name: 'reports, every night', scopes: ['scrape', 'crawl', 'search'] });
const paper = await eventually(
  'the papers are there',
  async () =>
    (await server.api('/v2/search/research/papers?query=network%20analysis&k=1')).results?.[0]?.primaryId,
  120_000,
);

/// A file to parse, printed by the same browser.
const sheet = await browser.newPage();
await sheet.setContent(`<h1>Field notes</h1><p>Gannets nest on cliffs of the North Atlantic and return every spring.</p>
  <h2>Colonies</h2><table border="1" cellpadding="6"><tr><th>Colony</th><th>Pairs</th></tr>
  <tr><td>Bass Rock</td><td>75,000</td></tr><tr><td>Bonaventure</td><td>60,000</td></tr></table>
  <p>They dive from a height of thirty metres.</p>`);
const notes = await sheet.pdf({
  width: '148mm',
  height: '105mm',
  margin: { top: '8mm', left: '8mm', right: '8mm' },
});
await sheet.close();

const VIEWS = {
  home: ['#/home'],
  playground: [
    `#/playground/scrape?url=${encodeURIComponent(urls.start)}`,
    async (tab) => {
      await tab.getByRole('button', { name: 'Run', exact: true }).click();
      await tab.locator('.prose').waitFor();
    },
  ],
  activity: ['#/activity'],
  crawl: [`#/crawls/crawl/${crawl.id}`],
  agent: [`#/agents/${run.id}?tab=trace`],
  sources: [`#/agents/${run.id}`, (tab) => tab.getByRole('tab', { name: 'Values and sources' }).click()],
  search: ['#/search?q=gannet%20dives', (tab) => tab.getByText('Why it ranks here').first().click()],
  papers: [
    `#/papers/${encodeURIComponent(paper)}`,
    async (tab) => {
      await tab.locator('.graph a').nth(2).click();
      await tab.locator('.graph').evaluate((graph) => graph.scrollIntoView({ block: 'center' }));
    },
  ],
  session: [`#/sessions/${session.id}`, (tab) => tab.waitForTimeout(1500)],
  monitor: [`#/monitors/${monitor.data.id}/${check}`, (tab) => tab.locator('.diff').waitFor()],
  parse: [
    '#/parse',
    async (tab) => {
      const file = { name: 'field-notes.pdf', mimeType: 'application/pdf', buffer: notes };
      await tab.getByLabel('File to parse').setInputFiles(file);
      await tab.getByRole('tab', { name: 'Blocks' }).click();
      await tab.locator('.sheet').scrollIntoViewIfNeeded();
      await tab.evaluate(() => scrollTo(0, document.body.scrollHeight));
    },
  ],
  usage: ['#/keys'],
  keys: ['#/keys', (tab) => tab.getByRole('heading', { name: 'API keys' }).scrollIntoViewIfNeeded()],
  webhooks: ['#/webhooks'],
  settings: ['#/settings'],
};

for (const scheme of ['light', 'dark']) {
  const who = await person(browser, server, { colorScheme: scheme, viewport: { width: 1120, height: 700 } });
  for (const [name, [hash, prepare]] of Object.entries(VIEWS)) {
    await who.go(hash);
    await settled(who.tab);
    await prepare?.(who.tab);
    // Nothing is lit because the mouse happens to lie on it.
    await who.tab.mouse.move(0, 0);
    await who.tab.waitForTimeout(300);
    await who.tab.screenshot({ path: `${out}/${name}-${scheme}.png` });
  }
  await who.context.close();
}
for (const scheme of ['light', 'dark']) {
  const who = await person(browser, server, {
    colorScheme: scheme,
    signedIn: false,
    viewport: { width: 1120, height: 700 },
  });
  await who.go('');
  await who.tab.screenshot({ path: `${out}/signin-${scheme}.png` });
  await who.context.close();
  const phone = await person(browser, server, { colorScheme: scheme, viewport: { width: 360, height: 700 } });
  await phone.go(`#/crawls/crawl/${crawl.id}`);
  await settled(phone.tab);
  await phone.tab.screenshot({ path: `${out}/phone-${scheme}.png` });
  await phone.context.close();
}
await browser.close();
await server.stop();
site.close();
console.log('all passed');
