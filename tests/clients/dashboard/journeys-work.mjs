// Crawls, activity, agent runs, monitors, browser sessions.

import { readFileSync } from 'node:fs';
import { assert, eventually, has, menu, press } from './ground.mjs';

const lines = (data) => data.toString().trim().split('\n');

/// The heads of the records of a WARC file, found by the lengths they say.
function records(data) {
  const heads = [];
  for (let at = 0; at < data.length; ) {
    const end = data.indexOf('\r\n\r\n', at);
    const head = data.subarray(at, end).toString();
    assert(head.startsWith('WARC/1.1\r\n'), `not a record: ${head.slice(0, 80)}`);
    heads.push(head);
    at = end + 4 + Number(/Content-Length: (\d+)/.exec(head)[1]) + 4;
  }
  return heads;
}

export default ({ site, server, journey }) => {
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
    const downloads = [
      ['link', 'JSONL', (data) => lines(data).every((line) => JSON.parse(line).markdown)],
      [
        'button',
        'Markdown zip',
        (data) => data.readUInt32LE(0) === 0x04034b50 && data.readUInt16LE(data.length - 12) === 17,
      ],
      ['link', 'WARC', (data) => records(data).length === 18 && records(data)[0].includes('warcinfo')],
    ];
    for (const [role, name, check] of downloads) {
      const button = tab.getByRole(role, { name, exact: true });
      const [file] = await Promise.all([tab.waitForEvent('download'), button.click()]);
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
    await go(`#/agents/${id}?tab=trace`);
    await tab.getByRole('heading', { name: /Every feeder with its name/ }).waitFor();
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
    await row.getByRole('button', { name: /on the page/ }).click();
    await row.locator('.passage', { hasText: 'A large feeder for a park' }).locator('mark').waitFor();
    await tab.getByRole('tab', { name: 'Versions' }).click();
    await tab.getByLabel('Version', { exact: true }).waitFor();
    // A question without addresses to begin at stands in the list like any other.
    await server.api('/v2/agent', { prompt: 'What is a gannet?', effort: 'low' });
    await go('#/agents');
    await tab
      .getByRole('link', { name: /What is a gannet/ })
      .first()
      .waitFor();
    await tab
      .getByRole('link', { name: /Every feeder/ })
      .first()
      .click();
    // A run that is done opens with its result, and can be asked again.
    await tab.getByRole('tab', { name: 'Result', selected: true }).waitFor();
    await has(tab, 'Larch');
    assert((await tab.getByText('plunge-1').count()) === 0, 'no model is named where there is none');
    await tab.getByRole('link', { name: 'Ask again' }).click();
    await tab.getByRole('heading', { name: 'Playground' }).waitFor();
    await eventually('the question is filled in', async () =>
      (await tab.getByLabel('prompt *').inputValue()).startsWith('Every feeder'),
    );
    assert((await tab.getByLabel('urls').first().inputValue()) === `${site.base}/shop/`, 'and its addresses');
  });

  journey('a view that cannot be drawn says what happened', async ({ tab, go, faults }) => {
    const agents = { json: { success: true, agents: [{ id: 'broken' }] } };
    await tab.route('**/v2/agent', (route) => route.fulfill(agents));
    await go('#/agents');
    await tab
      .getByRole('alert')
      .getByText(/undefined/)
      .waitFor();
    assert(faults.length > 0, 'the console has it too');
    faults.length = 0;
    await menu(tab, 'Crawls');
    await tab.getByRole('heading', { name: 'Crawls' }).waitFor();
  });

  journey('an answer of status 200 that says no is a failure in the playground', async ({ tab, go }) => {
    const answer = { json: { success: false, error: 'The site did not answer.' } };
    await tab.route('**/v2/scrape', (route) => route.fulfill(answer));
    await go(`#/playground/scrape?url=${encodeURIComponent(`${site.base}/`)}`);
    await press(tab, 'Run');
    await tab.getByRole('alert').getByText('The site did not answer.').waitFor();
    await tab.locator('.answer-line .badge.bad').waitFor();
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
    await tab.locator('.timeline').getByText('First check, 1 page').waitFor();
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
    // Other journeys have monitors of their own at the same time.
    await tab.getByRole('heading', { name: 'Monitors', exact: true }).waitFor();
    await tab.getByText('Price of the small feeder').waitFor({ state: 'detached' });
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
      return JSON.stringify(
        await run('agent-browser eval "document.getElementById(\'box\').value"'),
      ).includes('plunge');
    });
    await tab.getByLabel('Language').selectOption('bash');
    await tab.getByLabel('Code').fill('agent-browser get url');
    await press(tab, 'Run');
    await tab.getByRole('region', { name: 'Output' }).getByText(`${site.base}/type`).waitFor();
    await press(tab, 'End it');
    await tab.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await tab.locator('h1 .badge').getByText('destroyed').waitFor();
    await tab.getByRole('heading', { name: 'Replay' }).waitFor();
  });
};
