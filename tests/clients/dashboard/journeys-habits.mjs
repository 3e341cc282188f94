// Habits that hold in every view: the first visit, links, history, small screens, the keyboard, the clipboard.

import { assert, enter, eventually, has, KEY, menu, press, Server } from './ground.mjs';

export default ({ site, server, journey }) => {
  const field = (tab, value) =>
    tab.waitForFunction(
      (wanted) => [...document.querySelectorAll('input')].some((one) => one.value === wanted),
      value,
    );

  journey(
    'from the link of the start to the first page, without waiting for the checks',
    async ({ context }) => {
      const first = await new Server(`first ${Date.now()}`).start();
      const tab = await context.newPage();
      await tab.goto(first.open);
      await tab.getByRole('heading', { name: 'Home' }).waitFor();
      await has(tab, 'Nothing yet');
      await has(tab, 'Checking the parts of the server');
      await tab.getByRole('link', { name: 'Scrape a page' }).click();
      await tab.getByLabel('url *').fill(`${site.base}/`);
      await press(tab, 'Run');
      await tab.locator('.prose').getByText('folds its wings').waitFor();
      await menu(tab, 'Settings');
      await tab.getByRole('row', { name: /api_key/ }).waitFor();
      await tab.locator('.part').getByText('database', { exact: true }).waitFor();
      await has(tab, /^checked/);
      await first.stop();
    },
    { signedIn: false },
  );

  journey('a new key is filled into the first steps', async ({ tab, go }) => {
    await go('#/home');
    await press(tab, 'Fill in a new key');
    const code = tab.getByRole('region', { name: 'first call, curl' });
    await code.getByText(/Bearer (?!YOUR)/).waitFor();
    const key = /Bearer ([\w-]+)/.exec(await code.textContent())[1];
    assert(
      (await server.api('/v2/team/queue-status', undefined, 'GET', key)).status === 200,
      'the key works',
    );
    await tab.getByRole('tab', { name: 'MCP' }).click();
    await has(tab, key);
  });

  journey('a sign-in that ran out leads back to where the person was', async ({ tab, context, go }) => {
    await go('#/activity?endpoint=map');
    await context.request.delete(`${server.base}/admin/sign-in`, { headers: { origin: server.base } });
    await tab.getByLabel('API key').fill(KEY);
    await press(tab, 'Sign in');
    await tab.getByRole('heading', { name: 'Activity' }).waitFor();
    assert((await tab.getByLabel('Kind').inputValue()) === 'map', 'the filter is kept');
  });

  journey('a link to a part of a crawl opens there for somebody else', async ({ tab, context, go }) => {
    const { id } = await server.api('/v2/crawl', { url: `${site.base}/`, maxDiscoveryDepth: 1 });
    await go(`#/crawls/crawl/${id}`);
    await tab.locator('h1 .badge').getByText('completed').waitFor();
    await tab.getByRole('tab', { name: /Errors/ }).click();
    const other = await context.newPage();
    await other.goto(tab.url());
    await other.getByRole('cell', { name: /404/ }).waitFor();
    await other.getByRole('tab', { name: 'Documents' }).click();
    await other.getByRole('button', { name: /Feeders/ }).waitFor();
  });

  journey('back and forward lead through the views', async ({ tab, go }) => {
    const { id } = await server.api('/v2/batch/scrape', { urls: [`${site.base}/shop/small`] });
    await go('#/home');
    await menu(tab, 'Crawls');
    await tab.locator(`a[href$="${id}"]`).click();
    await tab.getByRole('heading', { name: /Batch/ }).waitFor();
    await tab.goBack();
    await tab.getByRole('heading', { name: 'Crawls' }).waitFor();
    await tab.goBack();
    await tab.getByRole('heading', { name: 'Home' }).waitFor();
    await tab.goForward();
    await tab.goForward();
    await tab.getByRole('heading', { name: /Batch/ }).waitFor();
    assert((await tab.title()).startsWith('Batch'), await tab.title());
  });

  journey('a search is shared by its address', async ({ tab, go }) => {
    await server.api('/v2/scrape', { url: `${site.base}/` });
    await go('#/search');
    await tab.getByLabel('Query').fill('northern gannet "thirty metres"');
    await tab.keyboard.press('Enter');
    await eventually('the address has the query', () => tab.url().includes('q='));
    const address = tab.url();
    await go('#/home');
    await tab.goto(address);
    await field(tab, 'northern gannet "thirty metres"');
  });

  journey(
    'a page is read on a phone',
    async ({ tab, go }) => {
      await go('#/home');
      await tab.getByRole('button', { name: 'Menu' }).click();
      await tab.getByRole('navigation', { name: 'Views' }).getByText('Playground').click();
      await tab.getByLabel('url *').fill(`${site.base}/`);
      await press(tab, 'Run');
      await tab.locator('.prose').getByText('folds its wings').waitFor();
      const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert(wide <= 0, `${wide} pixels too wide`);
    },
    { viewport: { width: 360, height: 640 }, hasTouch: true },
  );

  journey('a key is created and revoked by keyboard alone', async ({ tab, go }) => {
    await go('#/keys');
    const button = (name) => tab.getByRole('button', { name, exact: true });
    await enter(tab, button('New key'));
    await tab.getByRole('dialog').waitFor();
    await tab.keyboard.type('by keyboard');
    await tab.keyboard.press('Enter');
    await enter(tab, button('Done'));
    await enter(tab, button('Revoke by keyboard'));
    await enter(tab, button('Revoke it'));
    await has(tab, 'by keyboard was revoked');
  });

  journey('a call is copied as it stands', async ({ tab, context, go }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.base });
    await go(`#/playground/map?url=${encodeURIComponent(`${site.base}/`)}`);
    await tab.getByRole('button', { name: /^Copy call/ }).click();
    await has(tab, 'Copied');
    const copied = await tab.evaluate(() => navigator.clipboard.readText());
    assert(copied.startsWith('curl ') && copied.includes(`${site.base}/`), copied);
  });
};
