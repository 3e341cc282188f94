// What the views show beyond the first look: differences, usage, citations, why a result ranks, what destroys.

import { readFileSync } from 'node:fs';
import { assert, eventually, has, press } from './ground.mjs';

export default ({ site, server, journey }) => {
  /// A monitor of one page with a check before and after the page changed.
  async function changedMonitor(path, from, to) {
    const made = await server.api('/v2/monitor', {
      name: `Watch ${path}`,
      schedule: { text: 'every 30 minutes' },
      targets: [{ type: 'scrape', urls: [`${site.base}${path}`] }],
    });
    const monitor = `/v2/monitor/${made.data.id}`;
    const check = async (number) => {
      await server.api(`${monitor}/run`, {});
      return eventually('the check ends', async () => {
        const { data } = await server.api(`${monitor}/checks`);
        return data.length >= number && data[0].status === 'completed' && data[0].id;
      });
    };
    await check(1);
    site.pages[path] = site.pages[path].replace(from, to);
    return { id: made.data.id, check: await check(2) };
  }

  journey('a change is read side by side, its words marked, by a link to it', async ({ tab, go }) => {
    const { id, check } = await changedMonitor('/guide/bird-9', 'cliff 9', 'island 77');
    await go(`#/monitors/${id}/${check}`);
    await press(tab, 'Side by side');
    await tab.locator('td.del del', { hasText: 'cliff 9' }).waitFor();
    await tab.locator('td.add ins', { hasText: 'island 77' }).waitFor();
    assert(
      !(await tab.locator('ins').allTextContents()).join().includes('Bird'),
      'what stayed is not marked',
    );
    await press(tab, 'One below the other');
    await tab.locator('div.add ins', { hasText: 'island 77' }).waitFor();
    await press(tab, 'Delete');
    await press(tab, 'Keep it');
    assert((await server.api(`/v2/monitor/${id}`)).status === 200, 'it was kept');
  });

  journey('what was used is seen by day', async ({ tab, go }) => {
    await server.api('/v2/scrape', { url: `${site.base}/guide/` });
    await go('#/keys');
    await tab.getByRole('img', { name: /credits? in 30 days/ }).waitFor();
    await tab.getByText('As a table').click();
    const today = new Date().toISOString().slice(0, 10);
    await tab.getByRole('row', { name: new RegExp(`${today}.*Scrape \\d`) }).waitFor();
    await tab.getByRole('img', { name: /^Credits by month: .*credit/ }).waitFor();
    await tab.getByLabel('Days', { exact: true }).selectOption('7');
    await tab.getByRole('img', { name: /credits? in 7 days/ }).waitFor();
    await tab.locator('.stat', { hasText: 'unlimited' }).waitFor();
  });

  journey('a paper is found, who cites whom is seen, and a click makes an anchor', async ({ tab, go }) => {
    await go('#/papers');
    await tab.getByLabel('What is it about?').fill('gannets dive for fish');
    await press(tab, 'Search');
    await tab.getByRole('link', { name: 'Depth of dives of northern gannets' }).click();
    const graph = tab.getByRole('group', { name: /Graph of \d papers around Depth of dives/ });
    // A curve that runs straight up has no width, so nobody would call it visible.
    await graph.locator('path.cites').first().waitFor({ state: 'attached' });
    await graph.getByRole('link', { name: /Prey of divers/ }).click();
    await graph.locator('path.cites.lit').first().waitFor({ state: 'attached' });
    await press(tab, 'Use as anchor');
    await tab.getByRole('button', { name: /Remove anchor doi:10.1\/4/ }).waitFor();
    assert(decodeURIComponent(tab.url()).includes('anchors=doi:10.1/4'), 'the address keeps the anchor');
    await tab.getByRole('button', { name: /Remove anchor/ }).click();
    await tab.getByRole('button', { name: /Remove anchor/ }).waitFor({ state: 'detached' });
  });

  journey('a result says why it ranks where it does', async ({ tab, go }) => {
    await server.api('/v2/scrape', { url: `${site.base}/shop/large` });
    const found = await eventually('the page is in the index', async () => {
      const { data } = await server.api('/v2/search', { query: 'large feeder park' });
      return data.web.some((one) => one.url.endsWith('/shop/large'));
    });
    assert(found, 'found');
    await go('#/search?q=large%20feeder%20park');
    await tab.getByText('Why it ranks here').first().click();
    await has(tab, /place \d of/);
    await has(tab, 'Words shown of the query');
  });

  journey('a crawl grows in sight and gives what it has before its end', async ({ tab, go }) => {
    // Other journeys read these pages too; from the cache the crawl would be over at once.
    const { id } = await server.api('/v2/crawl', {
      url: `${site.base}/slow/`,
      maxConcurrency: 1,
      scrapeOptions: { maxAge: 0 },
    });
    await go(`#/crawls/crawl/${id}`);
    await tab.locator('h1 .badge').getByText('scraping').waitFor();
    const [file] = await Promise.all([
      tab.waitForEvent('download'),
      tab.getByRole('link', { name: 'JSONL', exact: true }).click(),
    ]);
    const first = JSON.parse(readFileSync(await file.path(), 'utf8').split('\n')[0]);
    assert(first.metadata.sourceURL.startsWith(`${site.base}/slow/`), 'the first page is there');
    await press(tab, 'Cancel');
    await press(tab, 'Cancel it');
    await tab.locator('h1 .badge').getByText('cancelled').waitFor();
  });

  journey('a run is cancelled, but not by accident', async ({ tab, go }) => {
    const { id } = await server.api('/v2/agent', {
      prompt: 'What do these pages say?',
      urls: Array.from({ length: 8 }, (_, index) => `${site.base}/held/${index}`),
    });
    await go(`#/agents/${id}`);
    await press(tab, 'Cancel');
    await press(tab, 'Keep it');
    await tab.locator('h1 .badge').getByText('processing').waitFor();
    await press(tab, 'Cancel');
    await press(tab, 'Cancel it');
    await has(tab, 'The agent run was cancelled.');
    await tab.getByRole('tab', { name: 'Trace' }).click();
    await tab
      .getByRole('region', { name: 'What each agent does' })
      .getByText(/The run ended/)
      .waitFor();
  });

  journey('the secret of webhooks is replaced after a question only', async ({ tab, go }) => {
    const secret = async () => (await server.api('/v2/team/webhook-secret')).data.secret;
    const before = await secret();
    await go('#/webhooks');
    await press(tab, 'Replace it');
    await press(tab, 'Keep it');
    assert((await secret()) === before, 'it was kept');
    await press(tab, 'Replace it');
    await tab.getByRole('dialog').getByRole('button', { name: 'Replace it' }).click();
    await has(tab, 'There is a new secret');
    assert((await secret()) !== before, 'it was replaced');
  });

  journey('a screenshot is drawn from this server', async ({ tab, go }) => {
    await go('#/playground/scrape');
    await tab.getByRole('tab', { name: 'JSON', exact: true }).click();
    const body = { url: `${site.base}/shop/`, formats: ['markdown', 'screenshot'] };
    await tab.getByLabel('Request body').fill(JSON.stringify(body));
    await press(tab, 'Run');
    await tab.getByRole('tab', { name: 'Screenshot' }).click();
    await tab.waitForFunction(() => document.querySelector('img.shot')?.naturalWidth > 300);
  });

  journey('a file is dropped onto the page', async ({ tab, go }) => {
    await go('#/parse');
    await tab.locator('.drop').waitFor();
    const files = await tab.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(['name,eggs\ngannet,1\n'], 'birds.csv', { type: 'text/csv' }));
      return data;
    });
    await tab.dispatchEvent('.drop', 'dragover', { dataTransfer: files });
    await tab.locator('.drop.over').waitFor();
    await tab.dispatchEvent('.drop', 'drop', { dataTransfer: files });
    await tab.getByRole('heading', { name: 'birds.csv' }).waitFor();
    await tab.locator('.prose').getByRole('cell', { name: 'gannet' }).waitFor();
  });
};
