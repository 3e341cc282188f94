// Signing in, trying endpoints, keys.

import { assert, eventually, freePort, has, KEY, menu, openMenu, press, Server, signIn } from './ground.mjs';

export default ({ site, server, journey }) => {
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
    await openMenu(tab);
    await press(tab, 'Sign out');
    await has(tab, 'Sign in to Gannet');
    const answer = await fetch(`${server.base}/admin/sign-in`, {
      headers: { cookie: `${cookies[0].name}=${cookies[0].value}` },
    });
    assert(answer.status === 401, 'the old cookie is worth nothing');
  });

  journey('without authentication nobody has to sign in', async ({ context }) => {
    const open = await new Server(`open ${Date.now()}`, { auth: 'off' }).start();
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
    await go('#/home');
    await menu(tab, 'Playground');
    await eventually('the first field has the focus', () =>
      tab.evaluate(() => document.activeElement.labels?.[0]?.textContent === 'url *'),
    );
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

  journey(
    'an address without its scheme is scraped, and data that was asked for is shown first',
    async ({ tab, go }) => {
      await go('#/playground/scrape');
      await tab.getByLabel('url *').fill(site.base.replace('http://', '') + '/shop/small');
      await tab.getByRole('button', { name: 'json', exact: true }).click();
      const schema = { type: 'object', properties: { price: { type: 'string' }, wood: { type: 'string' } } };
      await tab.getByLabel('JSON schema').fill(JSON.stringify(schema));
      await press(tab, 'Run');
      await tab.getByRole('tab', { name: 'JSON', exact: true, selected: true }).last().waitFor();
      await tab.getByRole('region', { name: 'JSON', exact: true }).getByText('Oak').waitFor();
      await tab.getByRole('tab', { name: 'Markdown' }).click();
      await tab.locator('.prose').getByText('A small feeder for a garden').waitFor();
    },
  );

  journey('a site is mapped, and its links are read', async ({ tab, go }) => {
    await go(`#/playground/map?url=${encodeURIComponent(`${site.base}/`)}`);
    await press(tab, 'Run');
    await tab.getByRole('tab', { name: /^Links \(\d+\)/ }).waitFor();
    await tab.getByRole('list', { name: 'Links' }).getByText(`${site.base}/guide/`).first().waitFor();
  });

  journey('a scrape that failed looks like one, where it ran and in the lists', async ({ tab, go }) => {
    const dead = `http://127.0.0.1:${await freePort()}/failed-scrape`;
    await go(`#/playground/scrape?url=${encodeURIComponent(dead)}`);
    await press(tab, 'Run');
    await tab.getByRole('alert').waitFor();
    await tab.locator('.answer-line .badge.bad').waitFor();
    assert((await tab.locator('.answer-line .badge.good').count()) === 0, 'nothing is green');
    await go('#/activity');
    await tab.getByLabel('Filter what is loaded').fill('failed-scrape');
    const row = tab.getByRole('link').filter({ hasText: 'failed-scrape' }).first();
    await row.locator('.badge.bad', { hasText: 'failed' }).waitFor();
    await row.click();
    // What is stored of it says why.
    await tab.getByRole('alert').waitFor();
  });

  journey('the same call is shown as code for every language', async ({ tab, go }) => {
    await go(`#/playground/scrape?url=${encodeURIComponent(`${site.base}/it's`)}`);
    for (const [name, part] of [
      ['curl', "it'\\''s"],
      ['Python', 'from firecrawl import Firecrawl'],
      ['JavaScript', 'new Firecrawl({'],
      ['Command line', 'gannet scrape'],
    ]) {
      await tab.getByRole('tab', { name, exact: true }).click();
      assert(
        (await tab.getByRole('region', { name: /^call/ }).textContent()).includes(part),
        `${name}: ${part}`,
      );
    }
    // Clients have no method for this one, so that it is plain HTTP.
    await go('#/playground/get%20%2Fv2%2Fteam%2Fqueue-status');
    await tab.getByRole('tab', { name: 'Python', exact: true }).click();
    await tab.getByRole('region', { name: /^call/ }).getByText('requests.request').waitFor();
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
    // Fields and what they may be are found too, not only names.
    for (const [text, path, field] of [
      ['screenshot', '/v2/scrape', 'formats'],
      ['maxDiscoveryDepth', '/v2/crawl', 'maxDiscoveryDepth'],
      ['monitor webhook', '/v2/monitor', null],
    ]) {
      await tab.getByLabel('Find an endpoint').fill(text);
      const found = tab
        .locator('.doc')
        .filter({ has: tab.locator('code', { hasText: new RegExp(`^${path}$`) }) });
      await found.first().waitFor();
      if (field) await found.locator('.fits', { hasText: field }).first().waitFor();
    }
    await tab.getByLabel('Find an endpoint').fill('no such thing at all');
    await has(tab, 'No endpoint fits');
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
    assert(
      (await server.api('/v2/team/queue-status', undefined, 'GET', key)).status === 200,
      'the key works',
    );
    await tab.getByRole('button', { name: 'Revoke a program of mine' }).click();
    await press(tab, 'Keep it');
    assert((await server.api('/v2/team/queue-status', undefined, 'GET', key)).status === 200, 'it was kept');
    await tab.getByRole('button', { name: 'Revoke a program of mine' }).click();
    await press(tab, 'Revoke it');
    await has(tab, 'a program of mine was revoked');
    assert(
      (await server.api('/v2/team/queue-status', undefined, 'GET', key)).status === 401,
      'it is revoked',
    );
  });

  journey('a key gets a new secret, and the audit log says so', async ({ tab, go }) => {
    const made = await server.api('/admin/keys', { name: 'turned around' });
    await go('#/keys');
    await tab.getByRole('button', { name: 'New secret for turned around' }).click();
    await tab.getByLabel('The secret before works for hours').fill('2');
    await press(tab, 'Make it');
    const next = (await tab.locator('.key-shown span').textContent()).trim();
    await has(tab, 'works for 2 more hours');
    await press(tab, 'Done');
    for (const key of [made.key, next]) {
      assert((await server.api('/v2/team/queue-status', undefined, 'GET', key)).status === 200, 'both work');
    }
    await go('#/audit');
    const row = tab.getByRole('row').filter({ hasText: 'New secret of a key' }).first();
    await row.getByText('turned around').waitFor();
    await tab.getByLabel('Show').selectOption('sign_in');
    await has(tab, 'Signed in');
    const file = await tab.getByRole('link', { name: 'CSV' }).getAttribute('href');
    assert(file === '/admin/audit/export?format=csv&action=sign_in', file);
  });

  journey(
    'a key without rights sees its own part and is told so',
    async ({ tab, context, go }) => {
      const made = await server.api('/admin/keys', { name: 'narrow', scopes: ['scrape'] });
      await signIn(context, server, made.key);
      await go('#/home');
      const views = await tab.locator('nav[aria-label="Views"]').textContent();
      assert(!views.includes('Settings') && !views.includes('Agent runs'), views);
      await go('#/settings');
      await has(tab, 'has no right to this');
      assert(/request \S+/.test(await tab.getByRole('alert').textContent()), 'the request id is named');
      await go('#/keys');
      await has(tab, 'it lacks the scope');
    },
    { signedIn: false },
  );
};
