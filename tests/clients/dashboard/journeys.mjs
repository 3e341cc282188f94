// Journeys of people through the dashboard, in a real Chromium against the real server.

import { readFileSync } from 'node:fs';
import { assert, eventually, KEY, launch, person, Server, signIn, startSite } from './ground.mjs';

const site = await startSite();
const server = await new Server('journeys').start();
const browser = await launch();
const journeys = [];
const journey = (name, walk, options) => journeys.push({ name, walk, options });
const has = (tab, text) => tab.getByText(text).first().waitFor();
const press = (tab, name) => tab.getByRole('button', { name, exact: true }).first().click();

// --- signing in ---

journey(
  'the link of the start opens the dashboard signed in, and works once',
  async ({ tab, context }) => {
    await tab.goto(server.open);
    await tab.getByRole('heading', { name: 'Home' }).waitFor();
    assert(!tab.url().includes('open='), 'the token is gone from the address');
    assert((await tab.evaluate(() => document.cookie)) === '', 'no script can read the cookie');
    await context.clearCookies();
    await tab.goto(server.open);
    await has(tab, 'This link was used already or is too old.');
    await has(tab, 'Sign in to Gannet');
  },
  { signedIn: false },
);

journey(
  'a wrong key is refused in words, the right one signs in, where the person was going',
  async ({ tab }) => {
    await tab.goto(`${server.base}/#/webhooks`);
    await tab.getByLabel('API key').fill('gn-wrong-0123456789');
    await press(tab, 'Sign in');
    await has(tab, 'This key is not valid');
    await tab.getByLabel('API key').fill(KEY);
    await press(tab, 'Sign in');
    await tab.getByRole('heading', { name: 'Webhooks' }).waitFor();
  },
  { signedIn: false },
);

journey('signing out ends the session here', async ({ tab, context, go }) => {
  await go();
  const cookies = await context.cookies();
  await press(tab, 'Sign out');
  await has(tab, 'Sign in to Gannet');
  const answer = await fetch(`${server.base}/admin/sign-in`, {
    headers: { cookie: `${cookies[0].name}=${cookies[0].value}` },
  });
  assert(answer.status === 401, 'the old cookie is worth nothing');
});

journey('without authentication nobody has to sign in', async ({ context }) => {
  const open = await new Server('open', { auth: 'off' }).start();
  const tab = await context.newPage();
  await tab.goto(`${open.base}/#/playground/scrape?url=${encodeURIComponent(`${site.base}/`)}`);
  await press(tab, 'Run');
  await tab.locator('.prose').getByText('folds its wings').waitFor();
  assert(
    (await tab.getByRole('button', { name: 'Sign out' }).count()) === 0,
    'there is nothing to sign out of',
  );
  await open.stop();
});

journey('a session that ended elsewhere leads back to the sign-in', async ({ tab, context, go }) => {
  await go('#/activity');
  await context.request.delete(`${server.base}/admin/sign-in?everywhere=true`, {
    headers: { origin: server.base },
  });
  await has(tab, 'Sign in to Gannet');
  await signIn(context, server);
});

// --- trying things ---

journey('a page is scraped in the playground, and the call can be shared', async ({ tab, go }) => {
  await go('#/playground/scrape');
  await tab.getByLabel('url *').fill(`${site.base}/`);
  await tab.getByRole('button', { name: 'links', exact: true }).click();
  await press(tab, 'Run');
  await tab.locator('.prose').getByText('folds its wings').waitFor();
  await tab.getByRole('tab', { name: /Links/ }).click();
  await has(tab, `${site.base}/guide/`);
  const shared = tab.url();
  await go('#/home');
  await tab.goto(shared);
  await tab.waitForFunction(
    (url) => [...document.querySelectorAll('input')].some((one) => one.value === url),
    `${site.base}/`,
  );
  assert(
    (await tab.getByRole('button', { name: 'links', exact: true }).getAttribute('aria-pressed')) === 'true',
    'the format is kept',
  );
});

journey('the same call is shown as code for every language', async ({ tab, go }) => {
  await go(`#/playground/scrape?url=${encodeURIComponent(`${site.base}/it's`)}`);
  for (const [name, part] of [
    ['curl', "it'\\''s"],
    ['Python', 'requests.request'],
    ['JavaScript', 'await fetch'],
    ['Command line', 'gannet scrape'],
  ]) {
    await tab.getByRole('tab', { name, exact: true }).click();
    assert(
      (await tab.getByRole('region', { name: /^call/ }).textContent()).includes(part),
      `${name}: ${part}`,
    );
  }
});

journey('a request is written as JSON and says what is wrong with it', async ({ tab, go }) => {
  await go('#/playground/map');
  await tab.getByRole('tab', { name: 'JSON', exact: true }).click();
  await tab.getByLabel('Request body').fill('{"url":');
  await has(tab, 'Not valid JSON yet');
  await tab.getByLabel('Request body').fill(`{"url":"${site.base}/","colour":"red"}`);
  await press(tab, 'Run');
  await tab.getByRole('alert').getByText('colour').first().waitFor();
  assert(/request \S+/.test(await tab.getByRole('alert').textContent()), 'the request id is named');
});

journey('every endpoint of the API has a form', async ({ tab, go }) => {
  await go('#/playground');
  const options = await tab.getByLabel('All endpoints').locator('option').allTextContents();
  assert(options.length > 60, `${options.length} endpoints`);
  await tab.getByLabel('All endpoints').selectOption('get /v2/team/queue-status');
  await press(tab, 'Run');
  await has(tab, 'jobsInQueue');
});

journey('the reference of the API leads to the form of each endpoint', async ({ tab, go }) => {
  await go('#/docs');
  await tab.getByLabel('Find an endpoint').fill('queue-status');
  await tab.getByText('/v2/team/queue-status').click();
  await tab.getByRole('link', { name: 'Try it' }).click();
  await tab.getByRole('heading', { name: 'Get the number of waiting and running jobs' }).waitFor();
});

// --- keys ---

journey('a key is created, used, and revoked', async ({ tab, go }) => {
  await go('#/keys');
  await press(tab, 'New key');
  await tab.getByLabel('Name').fill('a program of mine');
  await press(tab, 'Create');
  const key = (await tab.locator('.key-shown span').textContent()).trim();
  await press(tab, 'Done');
  assert((await server.api('/v2/team/queue-status', undefined, 'GET', key)).status === 200, 'the key works');
  await tab.getByRole('button', { name: 'Revoke a program of mine' }).click();
  await press(tab, 'Keep it');
  assert((await server.api('/v2/team/queue-status', undefined, 'GET', key)).status === 200, 'it was kept');
  await tab.getByRole('button', { name: 'Revoke a program of mine' }).click();
  await press(tab, 'Revoke it');
  await has(tab, 'a program of mine was revoked');
  assert((await server.api('/v2/team/queue-status', undefined, 'GET', key)).status === 401, 'it is revoked');
});

journey(
  'a key without rights sees its own part and is told so',
  async ({ tab, context, go }) => {
    const made = await server.api('/admin/keys', { name: 'narrow', scopes: ['scrape'] });
    await signIn(context, server, made.key);
    await go('#/home');
    const menu = await tab.getByRole('navigation', { name: 'Views' }).textContent();
    assert(!menu.includes('Settings') && !menu.includes('Agent runs'), menu);
    await go('#/settings');
    await has(tab, 'has no right to this');
    assert(/request \S+/.test(await tab.getByRole('alert').textContent()), 'the request id is named');
    await go('#/keys');
    await has(tab, 'it lacks the scope');
  },
  { signedIn: false },
);

// --- crawls ---

journey('a crawl is started, watched to its end, and read', async ({ tab, go }) => {
  await go(`#/playground/crawl?url=${encodeURIComponent(`${site.base}/`)}`);
  await press(tab, 'Run');
  await press(tab, 'Watch this crawl');
  await tab.locator('h1 .badge').getByText('completed').waitFor();
  await tab.getByRole('list', { name: 'Pages as a tree' }).getByText('bird-3').waitFor();
  await tab.getByRole('button', { name: 'Fold guide' }).press('Enter');
  assert((await tab.getByText('bird-3').count()) === 0, 'the folder is folded, by keyboard');
  await tab.getByRole('tab', { name: 'Errors (1)' }).click();
  await has(tab, 'status 404');
  await tab.getByRole('tab', { name: 'Documents' }).click();
  await tab.getByRole('button', { name: /How gannets dive/ }).click();
  await tab.locator('.prose').getByText('folds its wings').waitFor();
  for (const [name, check] of [
    [
      'JSONL',
      (data) =>
        data
          .toString()
          .trim()
          .split('\n')
          .every((line) => JSON.parse(line).markdown),
    ],
    [
      'Markdown zip',
      (data) => data.readUInt32LE(0) === 0x04034b50 && data.readUInt16LE(data.length - 12) === 17,
    ],
    [
      'WARC',
      (data) =>
        data.toString().startsWith('WARC/1.1') &&
        data.toString().includes(`WARC-Target-URI: ${site.base}/guide/bird-3`),
    ],
  ]) {
    const [file] = await Promise.all([tab.waitForEvent('download'), press(tab, name)]);
    assert(check(readFileSync(await file.path())), `${name} is not what it should be`);
  }
});

journey('a crawl is cancelled, but not by accident', async ({ tab, go }) => {
  const { id } = await server.api('/v2/crawl', { url: `${site.base}/slow/`, maxConcurrency: 2 });
  await go(`#/crawls/crawl/${id}`);
  await press(tab, 'Cancel');
  await press(tab, 'Keep it');
  await tab.locator('h1 .badge').getByText('scraping').waitFor();
  await press(tab, 'Cancel');
  await press(tab, 'Cancel it');
  await tab.locator('h1 .badge').getByText('cancelled').waitFor();
});

journey('the list of crawls leads to each, and back', async ({ tab, go }) => {
  const { id } = await server.api('/v2/batch/scrape', { urls: [`${site.base}/shop/small`] });
  await go('#/crawls');
  await tab.getByRole('listitem').getByText('Batch').first().click();
  await tab.getByRole('heading', { name: /Batch/ }).waitFor();
  assert(tab.url().includes(id), tab.url());
  await tab.goBack();
  await tab.getByRole('heading', { name: 'Crawls' }).waitFor();
});

journey('activity shows what happened, filters, and opens it', async ({ tab, go }) => {
  await server.api('/v2/map', { url: `${site.base}/` });
  await go('#/activity');
  await tab.getByRole('listitem').getByText('Map').first().waitFor();
  await tab.getByLabel('Kind').selectOption('map');
  await eventually(
    'only maps are shown',
    async () => !(await tab.getByRole('list', { name: /Requests/ }).textContent()).includes('Crawl'),
  );
  await tab.getByLabel('Filter what is loaded').fill('no such thing');
  await has(tab, 'Nothing fits the filter');
  await tab.getByLabel('Filter what is loaded').fill('');
  await tab
    .getByRole('list', { name: /Requests/ })
    .getByRole('link')
    .first()
    .click();
  await tab.getByRole('heading', { name: 'Playground' }).waitFor();
});

// --- runs ---

journey('an agent run is read while it happens, each value has its source', async ({ tab, go }) => {
  const schema = {
    type: 'object',
    properties: {
      feeders: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, price: { type: 'number' }, wood: { type: 'string' } },
        },
      },
    },
  };
  const { id } = await server.api('/v2/agent', {
    prompt: 'Every feeder with its name, price and wood',
    urls: [`${site.base}/shop/`],
    effort: 'low',
    schema,
  });
  await go(`#/agents/${id}`);
  await tab
    .getByRole('region', { name: 'What each agent does' })
    .getByText('Read', { exact: true })
    .first()
    .waitFor();
  await tab.locator('h1 .badge').getByText('completed').waitFor();
  await tab.getByRole('tab', { name: 'Result' }).click();
  await has(tab, 'Larch');
  await tab.getByRole('tab', { name: 'Values and sources' }).click();
  const row = tab.getByRole('row', { name: /feeders › \[2\] › wood/ });
  await row.locator('mark', { hasText: 'Larch' }).waitFor();
  assert(
    (await row.getByRole('link').getAttribute('href')) === `${site.base}/shop/large`,
    'the source is linked',
  );
  await tab.getByRole('tab', { name: 'Versions' }).click();
  await tab.getByLabel('Version', { exact: true }).waitFor();
  await go('#/agents');
  await tab
    .getByRole('link', { name: /Every feeder/ })
    .first()
    .click();
  await tab.getByRole('heading', { name: /Agent run/ }).waitFor();
});

// --- monitors ---

journey('a monitor is created, run, and its change is seen', async ({ tab, go }) => {
  await go('#/monitors');
  await press(tab, 'New monitor');
  await tab.getByLabel('Name').fill('Price of the small feeder');
  await tab.getByLabel('Pages').fill(`${site.base}/shop/small`);
  await press(tab, 'Create');
  await tab.getByRole('heading', { name: /Price of the small feeder/ }).waitFor();
  await press(tab, 'Run now');
  await tab.locator('.timeline').getByText('1 new').waitFor();
  site.pages['/shop/small'] = site.pages['/shop/small']
    .replace('$12.00', '$19.50')
    .replace('garden', 'balcony');
  await press(tab, 'Run now');
  await tab.locator('.timeline').getByText('1 changed').waitFor();
  await tab.locator('.timeline a').first().click();
  await tab.locator('.diff .add').getByText('19.50').first().waitFor();
  await press(tab, 'Pause');
  await tab.locator('h1 .badge').getByText('paused').waitFor();
  await press(tab, 'Go on');
  await tab.locator('h1 .badge').getByText('active').waitFor();
  await press(tab, 'Delete');
  await press(tab, 'Delete it');
  await has(tab, 'No monitors yet');
});

journey('a schedule that is none is refused where it was typed', async ({ tab, go }) => {
  await go('#/monitors');
  await press(tab, 'New monitor');
  await tab.getByLabel('Name').fill('x');
  await tab.getByLabel('Pages').fill(`${site.base}/`);
  await tab.getByLabel('Schedule').fill('whenever you like');
  await press(tab, 'Create');
  await tab.getByRole('dialog').getByRole('alert').waitFor();
  await tab.keyboard.press('Escape');
  await tab.getByRole('dialog').waitFor({ state: 'detached' });
});

// --- sessions ---

journey('a browser session is begun, watched, typed into, and ended', async ({ tab, go }) => {
  await go('#/sessions');
  await press(tab, 'New session');
  await press(tab, 'Begin');
  await tab.getByRole('heading', { name: /Session/ }).waitFor();
  const id = await eventually(
    'the session has an address',
    () => /sessions\/([\w-]{36})/.exec(tab.url())?.[1],
  );
  const run = (code) => server.api(`/v2/browser/${id}/execute`, { language: 'bash', code });
  await run(`agent-browser open ${site.base}/type`);
  await press(tab, 'Take over');
  const frame = tab.frameLocator('iframe[title="Live view of the browser"]');
  await frame.locator('canvas, img').first().waitFor();
  await eventually('what is typed arrives', async () => {
    await frame.locator('canvas, img').first().click({ timeout: 5000 });
    await tab.keyboard.type('plunge');
    return JSON.stringify(await run('agent-browser eval "document.getElementById(\'box\').value"')).includes(
      'plunge',
    );
  });
  await press(tab, 'End it');
  await tab.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
  await tab.locator('h1 .badge').getByText('destroyed').waitFor();
  await tab.getByRole('heading', { name: 'Replay' }).waitFor();
});

// --- the rest ---

journey('what was read is found by search', async ({ tab, go }) => {
  await server.api('/v2/scrape', { url: `${site.base}/` });
  await go('#/search');
  await eventually('the page is in the index', async () => {
    await tab.getByLabel('Query').fill('gannet dives sea');
    await tab.getByRole('button', { name: 'Search', exact: true }).click();
    await tab.waitForFunction(() => !document.querySelector('.loading'));
    return (await tab.locator('.results').count()) > 0;
  });
  await tab.locator('.results mark').first().waitFor();
  await tab.getByRole('link', { name: 'read this page' }).first().click();
  await tab.waitForFunction(
    (url) => [...document.querySelectorAll('input')].some((one) => one.value.startsWith(url)),
    site.base,
  );
});

journey('a file is parsed', async ({ tab, go }) => {
  await go('#/parse');
  await tab.getByLabel('File to parse').setInputFiles({
    name: 'notes.md',
    mimeType: 'text/markdown',
    buffer: Buffer.from('# Notes\n\n- gannets dive\n- they *swim* back\n'),
  });
  await tab.locator('.prose').getByText('gannets dive').waitFor();
  await tab.getByRole('heading', { name: 'notes.md' }).waitFor();
  await tab.getByRole('tab', { name: 'Blocks' }).click();
  await tab.getByRole('list', { name: 'Blocks in reading order' }).getByText('gannets dive').waitFor();
});

journey('a file that is none is refused in words', async ({ tab, go }) => {
  await go('#/parse');
  await tab.getByLabel('File to parse').setInputFiles({
    name: 'x.bin',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from([0, 1, 2, 3, 254, 255]),
  });
  await tab.getByRole('alert').waitFor();
});

journey('a webhook that nobody took is shown and sent again', async ({ tab, go }) => {
  await server.api('/v2/batch/scrape', {
    urls: [`${site.base}/shop/large`],
    webhook: { url: `${site.base}/no-receiver`, events: ['completed'] },
  });
  await go('#/webhooks');
  await tab.getByRole('button', { name: 'Send again' }).first().click();
  await has(tab, 'It is being sent again');
  await press(tab, 'Show');
  await tab.getByText(/^whsec_/).waitFor();
});

journey('settings say where each value is from, and hide secrets', async ({ tab, go }) => {
  await go('#/settings');
  await tab.getByLabel('Only what was set').check();
  const row = tab.getByRole('row', { name: /api_key/ });
  await row.getByText('environment GANNET_API_KEY').waitFor();
  assert(!(await tab.content()).includes(KEY), 'the key is not in the page');
  await tab.getByLabel('Find a setting').fill('webhook_retries');
  await has(tab, 'pauses before each retry');
});

journey('the server goes and comes back, and the page goes on signed in', async ({ tab, go }) => {
  await server.api('/v2/map', { url: `${site.base}/` });
  await go('#/activity');
  await tab
    .getByRole('list', { name: /Requests/ })
    .getByRole('listitem')
    .first()
    .waitFor();
  await server.stop();
  await has(tab, 'The server does not answer.');
  await server.start();
  await tab.locator('.offline').waitFor({ state: 'detached' });
  await tab.getByRole('navigation').getByText('Keys and usage').click();
  await tab.getByRole('heading', { name: 'API keys' }).waitFor();
  await tab.getByText('yours').waitFor();
});

journey(
  'everything is done by keyboard',
  async ({ tab }) => {
    await tab.goto(server.base);
    await tab.getByLabel('API key').waitFor();
    await tab.keyboard.type(KEY);
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Home' }).waitFor();
    await tab.keyboard.press('Tab');
    assert(
      (await tab.evaluate(() => document.activeElement.textContent)).includes('Skip'),
      'the first stop skips the menu',
    );
    await tab.keyboard.press('Enter');
    assert((await tab.evaluate(() => document.activeElement.id)) === 'main', 'and leads to the content');
    await tab.getByRole('tab', { name: 'curl' }).focus();
    await tab.keyboard.press('ArrowRight');
    assert(
      (await tab.evaluate(() => document.activeElement.textContent)) === 'Python',
      'arrows move between tabs',
    );
    await has(tab, 'pip install firecrawl-py');
  },
  { signedIn: false },
);

journey('addresses that lead nowhere say so', async ({ tab, go }) => {
  await go('#/nonsense');
  await has(tab, 'There is no such view.');
  await go('#/crawls/crawl/00000000-0000-7000-8000-000000000000');
  await has(tab, 'It may have expired, or belong to another team.');
  await go('#/agents/00000000-0000-7000-8000-000000000000');
  await tab.getByRole('alert').waitFor();
});

journey(
  'times are in the zone of the reader',
  async ({ tab, go }) => {
    await go('#/keys');
    const time = tab.locator('td time').first();
    await time.waitFor();
    const [shown, iso] = [await time.getAttribute('title'), await time.getAttribute('datetime')];
    const expected = await tab.evaluate(
      (at) =>
        new Intl.DateTimeFormat('en-GB', {
          timeZone: 'Asia/Tokyo',
          hour: '2-digit',
          minute: '2-digit',
        }).format(new Date(at)),
      iso,
    );
    assert(shown.includes(expected), `${shown} has ${expected}`);
  },
  { timezoneId: 'Asia/Tokyo', locale: 'en-GB' },
);

/// Journeys that stop the server, or end the sign-ins of others, are walked alone.
const ALONE = ['the link of the start', 'a session that ended elsewhere', 'the server goes'];
const AT_ONCE = 3;
const wanted = process.argv[2];
let failed = 0;

async function walkOne({ name, walk, options }) {
  const who = await person(browser, server, options);
  const started = Date.now();
  try {
    await walk(who);
    assert(who.faults.length === 0, `on the way: ${who.faults.join('\n')}`);
    console.log(`ok ${name} (${Date.now() - started} ms)`);
  } catch (error) {
    failed += 1;
    const shown = await who.tab
      .locator('main')
      .innerText({ timeout: 1000 })
      .catch(() => '');
    console.log(`FAILED ${name}: ${error.stack}\n${shown.slice(0, 1500)}`);
  }
  await who.context.close();
}

const chosen = journeys.filter((one) => !wanted || one.name.includes(wanted));
const isAlone = (one) => ALONE.some((start) => one.name.startsWith(start));
const waiting = chosen.filter((one) => !isAlone(one));
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await walkOne(next);
  }),
);
for (const one of chosen.filter(isAlone)) await walkOne(one);
await browser.close();
await server.stop();
site.close();
if (failed > 0) process.exit(1);
console.log('all passed');
