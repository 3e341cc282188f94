// A person whom an application asks for access, in a real Chromium: signs in first and comes back, sees who asks as
// text, allows or denies, and finds the key in the list. The view is accessible and fits a phone.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { assert, eventually, KEY, launch, person, Server, settled } from './ground.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOSTILE = '<img src=x onerror="window.hacked=1"> "><script>window.hacked=1</script>';
const verifier = 'v'.repeat(64);
const challenge = createHash('sha256').update(verifier).digest('base64url');

// The application: it listens for the answer.
const answers = [];
const listener = http.createServer((request, response) => {
  answers.push(new URL(request.url, 'http://127.0.0.1').searchParams);
  response.end('You may close this window.');
});
await new Promise((ready) => listener.listen(0, '127.0.0.1', ready));
const redirect = `http://127.0.0.1:${listener.address().port}/callback`;

const server = await new Server('consent').start();
const browser = await launch();
const register = async (client_name) => {
  const answer = await fetch(`${server.base}/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name, redirect_uris: ['http://127.0.0.1/callback'] }),
  });
  return (await answer.json()).client_id;
};
const link = (client_id, state, more = {}) => {
  const query = {
    response_type: 'code',
    client_id,
    redirect_uri: redirect,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  };
  return `${server.base}/oauth2/authorize?${new URLSearchParams(query)}`;
};
const has = (tab, text) => tab.getByText(text).first().waitFor();
const press = (tab, name) => tab.getByRole('button', { name, exact: true }).click();
const answered = async (state) => {
  // The browser has arrived, not only its request.
  await who.tab.waitForURL((url) => url.searchParams.get('state') === state);
  return eventually('the application is answered', () => answers.find((one) => one.get('state') === state));
};

const client = await register(HOSTILE);
const who = await person(browser, server, { signedIn: false });
const { tab, faults } = who;

// Not signed in: signs in and is where the application wanted them.
await tab.goto(link(client, 'one'));
await tab.getByLabel('API key').fill(KEY);
await press(tab, 'Sign in');
await tab.getByRole('heading', { name: 'An application asks for access' }).waitFor();
await has(tab, HOSTILE);
await has(tab, new URL(redirect).host);
await has(tab, 'Acts for the team');
assert((await tab.evaluate(() => window.hacked)) === undefined, 'the name was carried out');
assert((await tab.getByRole('checkbox', { name: 'Administration' }).count()) === 0, 'administration is not offered');
await tab.getByLabel('Parse files').uncheck();
await press(tab, 'Allow');
const allowed = await answered('one');
assert(allowed.get('iss') === server.base && allowed.get('code'), `${allowed}`);
const traded = await fetch(`${server.base}/oauth2/token`, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: client,
    code: allowed.get('code'),
    redirect_uri: redirect,
    code_verifier: verifier,
  }),
});
const token = await traded.json();
assert(traded.ok && token.scope.includes('scrape') && !token.scope.includes('parse'), JSON.stringify(token));

// The key is listed, as text, and can be revoked there.
await tab.goto(`${server.base}/#/keys`);
await has(tab, `app ${HOSTILE}`.slice(0, 60));
assert((await tab.evaluate(() => window.hacked)) === undefined, 'the name was carried out in the list');

// Denied: the application is told, and gets nothing.
await tab.goto(link(client, 'two'));
await press(tab, 'Deny');
const denied = await answered('two');
assert(denied.get('error') === 'access_denied' && !denied.get('code'), `${denied}`);

// A request that changed on its way is refused in words.
await tab.goto(`${server.base}/#/authorize?client_id=${client}&redirect_uri=https://evil.example/&response_type=code`);
await has(tab, '`redirect_uri` is not one of the client');

// No other page can hold the view in a frame.
const page = await fetch(`${server.base}/`);
assert(page.headers.get('content-security-policy').includes("frame-ancestors 'none'"), 'it can be framed');
const elsewhere = faults.filter((fault) => !fault.startsWith(`a request to ${new URL(redirect).origin}/`));
assert(elsewhere.length === 0, elsewhere.join('\n'));

for (const [colorScheme, width] of [
  ['light', 1200],
  ['dark', 360],
]) {
  const viewer = await person(browser, server, { colorScheme, viewport: { width, height: 760 }, bypassCSP: true });
  await viewer.tab.goto(link(client, 'three'));
  await settled(viewer.tab);
  await viewer.tab.getByRole('button', { name: 'Allow' }).waitFor();
  await viewer.tab.evaluate(axe);
  const report = await viewer.tab.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const serious = report.violations.filter((found) => ['serious', 'critical'].includes(found.impact));
  assert(serious.length === 0, JSON.stringify(serious.map((one) => [one.id, one.nodes[0]?.html])));
  const wide = await viewer.tab.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert(!wide, `wider than ${width}`);
}

await browser.close();
await server.stop();
listener.close();
console.log('all passed');
