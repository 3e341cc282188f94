// What the tests of the dashboard stand on: a server that they can stop and start, a site to read, and a Chromium that
// reports every error on its console and every request to another host.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { chromium } from 'playwright-core';

export const KEY = process.env.API_KEY ?? 'gn-blackbox-0123456789abcdef';

// A script that is ended ends its servers too.
process.on('SIGTERM', () => process.exit(1));

export const sleep = (millis) => new Promise((resume) => setTimeout(resume, millis));

export function assert(good, text) {
  if (!good) throw new Error(text);
}

export const has = (tab, text) => tab.getByText(text).first().waitFor();
export const press = (tab, name) => tab.getByRole('button', { name, exact: true }).first().click();

/// On a phone the menu is behind a button.
export async function openMenu(tab) {
  await tab.locator('.side').waitFor();
  if (!(await tab.getByRole('navigation', { name: 'Views' }).isVisible()))
    await tab.getByRole('button', { name: 'Menu' }).click();
}

/// Goes to a view by the menu.
export async function menu(tab, name) {
  await openMenu(tab);
  await tab.getByRole('navigation', { name: 'Views' }).getByText(name, { exact: true }).click();
}

/// The most steps by Tab from anywhere on a page to what somebody wants there.
const MAX_TABS = 160;

/// Goes on by Tab until the focus is on it, as somebody without a mouse does.
export async function reach(tab, wanted) {
  await wanted.first().waitFor();
  for (let step = 0; step < MAX_TABS; step += 1) {
    if (await wanted.first().evaluate((one) => one === document.activeElement)) return step;
    await tab.keyboard.press('Tab');
  }
  throw new Error(`${wanted} is not reached by Tab`);
}

/// Presses a button, opens a link or chooses a tab by keyboard alone.
export async function enter(tab, wanted) {
  const steps = await reach(tab, wanted);
  await tab.keyboard.press('Enter');
  return steps;
}

/// Tries until something holds, for as long as a busy machine may need.
export async function eventually(what, look, millis = 20_000) {
  const end = Date.now() + millis;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${what} did not come about`);
    await sleep(50);
  }
}

/// A port that nobody listens on.
export async function freePort() {
  const server = net.createServer();
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

/// A server of its own data folder. `open` is the link that its start printed.
export class Server {
  constructor(name, settings = {}) {
    this.folder = `${process.env.DATA_DIR}/${name}`;
    this.settings = settings;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }

  env() {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR ?? '/tmp' };
    const settings = {
      api_key: KEY,
      data_dir: this.folder,
      listen: `127.0.0.1:${this.port ?? 0}`,
      research_starter: 'off',
      shutdown_grace: '1s',
      log: 'error',
      egress_allow: 'scrape=127.0.0.0/8;webhook=127.0.0.0/8',
      webhook_retries: '30ms',
      interact_warm: 'off',
      ...this.settings,
    };
    if (process.env.DASHBOARD_FOLDER) settings.dashboard = process.env.DASHBOARD_FOLDER;
    for (const [name, value] of Object.entries(settings)) env[`GANNET_${name.toUpperCase()}`] = value;
    return env;
  }

  /// A command of the same binary on the same data.
  command(...words) {
    execFileSync(process.env.GANNET_BINARY, words, { env: this.env(), cwd: this.folder, stdio: 'pipe' });
  }

  async start() {
    this.port ??= await freePort();
    this.base = `http://127.0.0.1:${this.port}`;
    this.child = spawn(process.env.GANNET_BINARY, ['serve'], {
      env: this.env(),
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    process.on('exit', () => this.child.kill('SIGKILL'));
    await new Promise((found, failed) => {
      let text = '';
      this.child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.includes('\n  try')) found();
      });
      this.child.on('exit', () => failed(new Error(`the server ended:\n${text}`)));
    });
    // What is printed to no terminal has no secrets.
    const link = `${this.folder}/sign-in-link`;
    this.open = existsSync(link) ? readFileSync(link, 'utf8').trim() : undefined;
    await eventually('the server is ready', () =>
      fetch(`${this.base}/ready`).then(
        (answer) => answer.ok,
        () => false,
      ),
    );
    return this;
  }

  async stop() {
    const ended = new Promise((resume) => this.child.on('exit', resume));
    this.child.kill('SIGTERM');
    await ended;
  }

  /// A call with the key, past the dashboard.
  async api(path, body, method = body === undefined ? 'GET' : 'POST', key = KEY) {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const answer = await fetch(this.base + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: answer.status, ...(await answer.json()) };
  }
}

/// A few papers about one thing, some of which cite each other.
export function importPapers(server) {
  const titles = ['Plunge dives', 'Depth of dives', 'Wings folded in dives', 'Prey of divers', 'Divers and trawlers'];
  const works = titles.map((title, index) => ({
    ids: { doi: [`10.1/${index + 1}`] },
    title: `${title} of northern gannets`,
    abstract: `How northern gannets dive for fish, seen from ${title.toLowerCase()}.`,
    references: Array.from({ length: index }, (_, cited) => `doi:10.1/${cited + 1}`),
    authors: ['Ada Lovelace'],
    categories: ['Zoology'],
    created: `20${10 + index}-01-02`,
  }));
  const file = `${server.folder}/papers.jsonl`;
  writeFileSync(file, works.map((work) => JSON.stringify(work)).join('\n'));
  server.command('research', 'import', '--from', 'jsonl', file);
}

const page = (title, body) =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>`;

/// A small site; `pages` may be changed while a test runs. Pages below `/slow/` take their time, those below `/held/` do
/// not answer, so that what reads them is still at work however busy the machine is.
export async function startSite(pages = {}) {
  const birds = Array.from({ length: 12 }, (_, index) => index + 1);
  Object.assign(pages, {
    '/': page(
      'How gannets dive',
      '<p>A northern gannet folds its wings and dives from a height of thirty metres into the cold sea.</p><p><a href="/guide/">The guide</a>, the <a href="/shop/">shop</a>, a <a href="/gone">lost page</a>.</p><table><tr><th>Species</th><th>Wingspan</th></tr><tr><td>Northern gannet</td><td>180 cm</td></tr></table>',
    ),
    '/guide/': page(
      'Guide to seabirds',
      `<ul>${birds.map((bird) => `<li><a href="/guide/bird-${bird}">Bird ${bird}</a></li>`).join('')}</ul>`,
    ),
    ...Object.fromEntries(
      birds.map((bird) => [
        `/guide/bird-${bird}`,
        page(
          `Bird ${bird}`,
          `<p>Bird ${bird} lives on cliff ${bird} and lays ${(bird % 3) + 1} eggs every spring.</p>`,
        ),
      ]),
    ),
    '/shop/': page(
      'Feeders',
      '<ul><li><a href="/shop/small">Small feeder</a> <span>$12</span></li><li><a href="/shop/large">Large feeder</a> <span>$30</span></li></ul>',
    ),
    '/shop/small': page(
      'Small feeder',
      '<p>Price: $12.00</p><p>Wood: Oak</p><p>A small feeder for a garden.</p>',
    ),
    '/shop/large': page(
      'Large feeder',
      '<p>Price: $30.00</p><p>Wood: Larch</p><p>A large feeder for a park.</p>',
    ),
    '/type': page(
      'Type here',
      '<p><input id="box" aria-label="box" autofocus style="position:fixed;left:0;top:0;width:100vw;height:100vh;font-size:40px"></p>',
    ),
    '/slow/': page(
      'Slow',
      `<ul>${Array.from({ length: 40 }, (_, index) => `<li><a href="/slow/${index}">Page ${index}</a></li>`).join('')}</ul>`,
    ),
    ...pages,
  });
  const server = http.createServer(async (request, response) => {
    const path = request.url.split('?')[0];
    if (path.startsWith('/held/')) return;
    if (/^\/slow\/\d/.test(path)) await sleep(3000);
    // A page that differs each time it is read is a function.
    const known = typeof pages[path] === 'function' ? pages[path]() : pages[path];
    const found =
      known ??
      (/^\/slow\/\d/.test(path) ? page('Slow page', `<p>It took its time: ${path}</p>`) : undefined);
    response.writeHead(found === undefined ? 404 : 200, {
      'content-type': 'text/html; charset=utf-8',
      'x-note': '"><script>window.hacked=1</script>',
    });
    response.end(found ?? page('Not found', '<p>There is no such page.</p>'));
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { base: `http://127.0.0.1:${server.address().port}`, pages, close };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });

/// A person with a browser of their own. Errors on the console and requests elsewhere are collected in `faults`.
export async function person(browser, server, { signedIn = true, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1200, height: 800 },
    acceptDownloads: true,
    ...options,
  });
  // What is waited for comes within a second where nothing else runs.
  context.setDefaultTimeout(90_000);
  const tab = await context.newPage();
  const faults = [];
  // Answers with an error status are part of some journeys, and Chromium notes each of them.
  tab.on(
    'console',
    (message) =>
      message.type() === 'error' &&
      !/Failed to load resource|ERR_CONNECTION/.test(message.text()) &&
      faults.push(message.text()),
  );
  tab.on('pageerror', (error) => faults.push(String(error.stack)));
  tab.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  tab.on('request', (request) => {
    const url = new URL(request.url());
    if (/^(http|ws)s?:$/.test(url.protocol) && url.host !== new URL(server.base).host)
      faults.push(`a request to ${request.url()}`);
  });
  if (signedIn) await signIn(context, server);
  const go = async (hash = '#/home') => {
    await tab.goto(`${server.base}/${hash}`);
    await tab.waitForSelector('h1');
  };
  return { context, tab, faults, go };
}

export async function signIn(context, server, key = KEY) {
  const answer = await context.request.post(`${server.base}/admin/sign-in`, {
    headers: { origin: server.base },
    data: { key },
  });
  assert(answer.ok(), `signing in: ${answer.status()}`);
}

/// Waits until no text of loading is left.
export async function settled(tab) {
  await tab.waitForSelector('h1');
  await tab.waitForFunction(() => !document.querySelector('.loading'));
}
