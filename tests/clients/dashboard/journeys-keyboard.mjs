// What people come for, by keyboard alone: every step is Tab, Enter, arrows and typing.

import { assert, enter, eventually, KEY, reach } from './ground.mjs';

export default ({ site, server, journey }) => {
  const button = (tab, name) => tab.getByRole('button', { name, exact: true });
  const write = async (tab, label, text) => {
    await reach(tab, tab.getByLabel(label));
    await tab.keyboard.press('ControlOrMeta+a');
    await tab.keyboard.type(text);
  };

  journey(
    'by keyboard: sign in, scrape, read the data, crawl, cancel',
    async ({ tab }) => {
      await tab.goto(`${server.base}/#/playground/scrape`);
      await tab.getByLabel('API key').waitFor();
      await tab.keyboard.type(KEY);
      await tab.keyboard.press('Enter');
      // The first field has the focus when the form is there.
      await tab.getByLabel('url *').waitFor();
      const focused = () => tab.evaluate(() => document.activeElement.labels?.[0]?.textContent);
      await eventually('the first field has the focus', async () => (await focused()) === 'url *');
      await tab.keyboard.type(`${site.base}/shop/`);
      await tab.keyboard.press('Enter');
      await tab.getByText('Small feeder').first().waitFor();
      const tabs = tab.getByRole('tablist', { name: 'Parts of the answer' });
      await reach(tab, tabs.getByRole('tab', { selected: true }));
      await tab.keyboard.press('End');
      await tab.getByRole('region', { name: 'the whole answer' }).waitFor();
      await tab.goto(`${server.base}/#/playground/crawl?url=${encodeURIComponent(`${site.base}/slow/`)}`);
      await enter(tab, button(tab, 'Run'));
      await enter(tab, button(tab, 'Watch this crawl'));
      await enter(tab, button(tab, 'Cancel'));
      await enter(tab, button(tab, 'Cancel it'));
      await tab.locator('h1 .badge').getByText('cancelled').waitFor();
      await reach(tab, tab.getByRole('tab', { name: 'Tree' }));
      await tab.keyboard.press('ArrowRight');
      await tab.getByRole('tab', { name: /Errors/, selected: true }).waitFor();
    },
    { signedIn: false, viewport: { width: 1200, height: 800 } },
  );

  journey(
    'by keyboard: a monitor is made, run, changed and deleted',
    async ({ tab, go }) => {
      await go('#/monitors');
      await enter(tab, button(tab, 'New monitor'));
      await tab.getByRole('dialog').waitFor();
      await tab.keyboard.type('By keyboard');
      await write(tab, 'Pages', `${site.base}/shop/`);
      await reach(tab, tab.locator('dialog summary'));
      await tab.keyboard.press('Enter');
      await write(tab, 'Webhook', `${site.base}/hook`);
      await enter(tab, button(tab, 'Create'));
      await tab.getByRole('heading', { name: /By keyboard/ }).waitFor();
      await enter(tab, button(tab, 'Run now'));
      await tab.locator('.timeline').getByText('First check, 1 page').waitFor();
      await enter(tab, button(tab, 'Edit'));
      await write(tab, 'Goal', 'a feeder is sold out');
      await tab.keyboard.press('Enter');
      await tab.getByText('a feeder is sold out').first().waitFor();
      await enter(tab, button(tab, 'Delete'));
      await enter(tab, button(tab, 'Delete it'));
      await tab.getByRole('heading', { name: 'Monitors', exact: true }).waitFor();
    },
    { viewport: { width: 1200, height: 800 } },
  );

  journey(
    'by keyboard: search, the reference, a file, a run asked again',
    async ({ tab, go }) => {
      await server.api('/v2/scrape', { url: `${site.base}/` });
      await go('#/search');
      await tab.getByLabel('Query').waitFor();
      await tab.keyboard.type('gannet dives');
      await tab.keyboard.press('Enter');
      await eventually('the address has the query', () => tab.url().includes('q=gannet'));
      await go('#/docs');
      await write(tab, 'Find an endpoint', 'queue-status');
      await reach(tab, tab.locator('.doc summary'));
      await tab.keyboard.press('Enter');
      await enter(tab, tab.getByRole('link', { name: 'Try it' }));
      await tab.getByRole('heading', { name: 'Get the number of waiting and running jobs' }).waitFor();
      await go('#/parse');
      let chooser;
      tab.once('filechooser', (one) => (chooser = one));
      await eventually('the file is asked for', async () => {
        await enter(tab, button(tab, 'Choose a file'));
        return chooser;
      });
      const file = {
        name: 'x.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('# By keyboard\n\nText.\n'),
      };
      await chooser.setFiles(file);
      await tab.locator('.prose').getByText('By keyboard').waitFor();
      const { id } = await server.api('/v2/agent', {
        prompt: 'What does the small feeder cost?',
        urls: [`${site.base}/shop/small`],
        effort: 'low',
      });
      await go('#/agents');
      await enter(tab, tab.locator(`a[href="#/agents/${id}"]`));
      await enter(tab, tab.getByRole('link', { name: 'Ask again' }));
      await eventually('the question is filled in', async () =>
        (await tab.getByLabel('prompt *').inputValue()).includes('small feeder'),
      );
      assert(tab.url().includes('playground/agent'), tab.url());
    },
    { viewport: { width: 1200, height: 800 } },
  );
};
