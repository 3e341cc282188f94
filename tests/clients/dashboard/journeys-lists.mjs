// Lists that say what became of requests, and monitors that people are told of: who, what was ignored, and watching it
// again.

import { assert, eventually, freePort, has, press } from './ground.mjs';

export default ({ site, server, journey }) => {
  /// A batch that is over, some of whose pages failed.
  async function mixedBatch() {
    const { id } = await server.api('/v2/batch/scrape', {
      urls: [`${site.base}/shop/small`, `http://127.0.0.1:${await freePort()}/nobody`],
    });
    await eventually(
      'the batch ends',
      async () => (await server.api(`/v2/batch/scrape/${id}`)).status === 'completed',
    );
    return id;
  }

  journey(
    'lists say what became of each request, what it took, and whose key it was',
    async ({ tab, go }) => {
      const id = await mixedBatch();
      const key = await server.api('/admin/keys', { name: 'nightly reports' });
      await server.api('/v2/scrape', { url: `${site.base}/shop/large` }, 'POST', key.key);
      await go('#/crawls');
      const batch = tab.locator(`a[href$="${id}"]`);
      await batch.getByText('completed').waitFor();
      await batch.getByText(/\d pages?, \d failed/).waitFor();
      await batch.getByText(/\d credits?/).waitFor({ state: 'attached' });
      await go('#/activity');
      const row = tab
        .getByRole('link')
        .filter({ hasText: '/shop/large' })
        .filter({ hasText: 'nightly reports' })
        .first();
      await row.getByText('completed').waitFor();
      await row.getByText(/^\d+(\.\d)? m?s$/).waitFor();
      await row.getByText('1 credit').waitFor({ state: 'attached' });
      // A filter finds what failed.
      await tab.getByLabel('Filter what is loaded').fill('cancelled');
      await tab.getByLabel('Filter what is loaded').fill('nightly');
      await row.waitFor();
    },
  );

  journey('a crawl that is cancelled is said to be so in the list', async ({ tab, go }) => {
    const { id } = await server.api('/v2/crawl', { url: `${site.base}/slow/`, maxConcurrency: 1, limit: 20 });
    await go('#/crawls');
    const row = tab.locator(`a[href$="${id}"]`);
    await row.getByText('running').waitFor();
    await server.api(`/v2/crawl/${id}`, undefined, 'DELETE');
    await row.getByText('cancelled').waitFor();
  });

  journey('no more is queued than a crawl may read', async ({ tab, go }) => {
    const { id } = await server.api('/v2/crawl', {
      url: `${site.base}/slow/`,
      maxConcurrency: 1,
      limit: 5,
      scrapeOptions: { maxAge: 0 },
    });
    await go(`#/crawls/crawl/${id}`);
    await eventually(
      'its pages are found',
      async () => (await server.api(`/v2/crawl/${id}?limit=1`)).discovered > 10,
    );
    await has(tab, 'over the limit');
    const queued = await tab.locator('.legend li', { hasText: 'queued' }).innerText();
    assert(Number(/\d+/.exec(queued)[0]) <= 5, queued);
    assert((await tab.getByText('left out').count()) === 0, 'skipped is the one word for it');
    await server.api(`/v2/crawl/${id}`, undefined, 'DELETE');
  });

  // --- monitors ---

  journey('a monitor tells people, is changed afterwards, and has a feed', async ({ tab, go }) => {
    await go('#/monitors');
    await press(tab, 'New monitor');
    const dialog = tab.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Told feeder');
    await dialog.getByLabel('Pages').fill(`${site.base}/shop/large`);
    await dialog.getByText('Who is told').click();
    await dialog.getByLabel('Mail to').fill('ann@example.com');
    await dialog.getByLabel('Webhook').fill(`${site.base}/hook`);
    await press(tab, 'Add a service');
    await dialog.getByLabel('Service').selectOption('ntfy');
    await dialog.getByLabel(/^Server/).fill(site.base);
    await dialog.getByLabel('Topic').fill('feeders');
    await press(tab, 'Add it');
    await press(tab, 'Create');
    await tab.getByRole('heading', { name: /Told feeder/ }).waitFor();
    const told = tab.locator('.told');
    for (const text of ['ann@example.com', `${site.base}/hook`, 'ntfy']) await told.getByText(text).waitFor();
    const id = /monitors\/([\w-]{36})/.exec(tab.url())[1];
    await press(tab, 'Edit');
    await dialog.getByLabel('Name').fill('Told feeders');
    await dialog.getByLabel('Pages').fill(`${site.base}/shop/large\n${site.base}/shop/small`);
    await dialog.getByLabel('Goal').fill('the price changes');
    await dialog.getByLabel('Mail to').fill('');
    await press(tab, 'Save');
    await tab.getByRole('heading', { name: /Told feeders/ }).waitFor();
    await told.getByText('ann@example.com').waitFor({ state: 'detached' });
    const { data } = await server.api(`/v2/monitor/${id}`);
    assert(data.targets[0].urls.length === 2 && data.goal === 'the price changes', JSON.stringify(data));
    assert(
      data.webhook.url === `${site.base}/hook` && data.notification.channels.length === 1,
      'the others stay',
    );
    const feed = await tab.getByRole('link', { name: 'Atom feed' }).getAttribute('href');
    const answer = await fetch(server.base + feed);
    assert((await answer.text()).includes('<feed'), 'the feed is read without a key');
  });

  journey('a line that was ignored says why, and is watched again', async ({ tab, go }) => {
    let [reads, quote] = [0, null];
    const quotes = ['Fast and quiet, says Ann', 'Strong and cheap, says Bo', 'Built to last, says Chi'];
    site.pages['/quotes'] = () => {
      reads += 1;
      const text = `A feeder made of larch for parks and large gardens. It holds four litres of seeds. ${'Birds like it. '.repeat(6)}`;
      return `<!doctype html><html lang="en"><head><title>Quotes</title></head><body><main><h1>Feeder</h1>
        <p>${quote ?? quotes[reads % 3]}</p><p>${text}</p><p>It comes in one piece.</p></main></body></html>`;
    };
    const made = await server.api('/v2/monitor', {
      name: 'Quotes',
      schedule: { cron: '17 3 1 1 *' },
      targets: [{ type: 'scrape', urls: [`${site.base}/quotes`] }],
    });
    const path = `/v2/monitor/${made.data.id}`;
    const check = async () => {
      const { id } = await server.api(`${path}/run`, {});
      return eventually(
        'the check ends',
        async () => {
          const { data } = await server.api(`${path}/checks/${id}`);
          return !['queued', 'running'].includes(data.status) && data;
        },
        60_000,
      );
    };
    for (let round = 0; round < 3; round += 1) await check();
    quote = 'Handsome in the snow, says Dan';
    const quiet = await check();
    assert(quiet.pages[0].status === 'same', JSON.stringify(quiet.pages[0]));
    await go(`#/monitors/${made.data.id}/${quiet.id}`);
    await tab.getByText(/differences? ignored/).click();
    await has(tab, 'differs each time the page is read');
    await press(tab, 'Watch this line again');
    await has(tab, 'It is watched again');
    quote = 'Worth its price, says Eve';
    const told = await check();
    assert(told.pages[0].status === 'changed', JSON.stringify(told.pages[0]));
    await tab.locator('.timeline').getByText('1 changed').waitFor();
  });
};
