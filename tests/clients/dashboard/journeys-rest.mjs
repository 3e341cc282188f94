// Search, files, webhooks, settings, and how the dashboard behaves.

import { readFileSync } from 'node:fs';
import { assert, eventually, has, KEY, menu, press } from './ground.mjs';

export default ({ site, server, journey }) => {
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

  journey('a file is parsed, copied and downloaded', async ({ tab, context, go }) => {
    await go('#/parse');
    await tab.getByLabel('File to parse').setInputFiles({
      name: 'notes.md',
      mimeType: 'text/markdown',
      buffer: Buffer.from('# Notes\n\n- gannets dive\n- they *swim* back\n'),
    });
    await tab.locator('.prose').getByText('gannets dive').waitFor();
    await tab.getByRole('heading', { name: 'notes.md' }).waitFor();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.base });
    await press(tab, 'Copy the markdown');
    await has(tab, 'Markdown copied');
    assert(
      (await tab.evaluate(() => navigator.clipboard.readText())).includes('gannets dive'),
      'it is copied',
    );
    const [file] = await Promise.all([tab.waitForEvent('download'), press(tab, 'Download it')]);
    assert(file.suggestedFilename() === 'notes.md', file.suggestedFilename());
    assert(readFileSync(await file.path(), 'utf8').startsWith('# Notes'), 'it is the markdown');
    await tab.getByRole('tab', { name: 'Blocks' }).click();
    await tab.getByRole('list', { name: 'Blocks in reading order' }).getByText('gannets dive').waitFor();
  });

  journey('reading pages by OCR is offered only where there is OCR', async ({ tab, go }) => {
    const withOcr = (available) => (route) =>
      route.fulfill({
        json: { success: true, data: { formats: [{ kind: 'image', extensions: ['png'], available }] } },
      });
    await tab.route('**/v2/parse/formats', withOcr(false));
    await go('#/parse');
    await has(tab, 'OCR is not installed');
    assert((await tab.getByLabel('Read every page by OCR').count()) === 0, 'it is not offered');
    await tab.route('**/v2/parse/formats', withOcr(true));
    await tab.reload();
    await tab.getByLabel('Read every page by OCR').check();
  });

  journey('a file that is none is refused in words', async ({ tab, go }) => {
    await go('#/parse');
    await tab.getByLabel('File to parse').setInputFiles({
      name: 'x.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from([0, 1, 2, 3, 254, 255]),
    });
    await tab.getByRole('alert').waitFor();
    const program = Buffer.concat([Buffer.from('MZ'), Buffer.alloc(512)]);
    const type = 'application/x-msdownload';
    await tab
      .getByLabel('File to parse')
      .setInputFiles({ name: 'setup.exe', mimeType: type, buffer: program });
    await tab.waitForFunction(() => !document.querySelector('.loading'));
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
    await menu(tab, 'Keys and usage');
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
      await eventually('the focus is in the content after signing in', () =>
        tab.evaluate(() => document.activeElement.id === 'main'),
      );
      await tab.reload();
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
};
