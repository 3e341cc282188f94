// Journeys of people through the dashboard, in a real Chromium against the real server. Every other one is walked on a
// phone; with GANNET_TEST_SOAK=1, or WIDTHS=1200,360, each is walked on every width. README.md has the tasks.

import { assert, importPapers, launch, person, Server, startSite } from './ground.mjs';
import begin from './journeys-begin.mjs';
import habits from './journeys-habits.mjs';
import keyboard from './journeys-keyboard.mjs';
import lists from './journeys-lists.mjs';
import rest from './journeys-rest.mjs';
import views from './journeys-views.mjs';
import work from './journeys-work.mjs';

/// Journeys that stop the server, or end the sign-ins of others, are walked alone.
const ALONE = ['the link of the start', 'a session that ended elsewhere', 'the server goes'];
const AT_ONCE = 3;
const WINDOWS = [
  ['1200', { viewport: { width: 1200, height: 800 } }],
  ['360', { viewport: { width: 360, height: 740 }, hasTouch: true }],
];
const wanted = process.argv[2];
const asked = process.env.WIDTHS ?? (process.env.GANNET_TEST_SOAK ? '1200,360' : 'both in turn');
const browser = await launch();
let [walked, failed] = [0, 0];

async function walkOne(server, { name, walk, options }, [width, size]) {
  const who = await person(browser, server, { ...size, ...options });
  const said = options?.viewport ? name : `${name} (${width} px)`;
  const started = Date.now();
  walked += 1;
  try {
    await walk(who);
    assert(who.faults.length === 0, `on the way: ${who.faults.join('\n')}`);
    console.log(`ok ${said} (${Date.now() - started} ms)`);
  } catch (error) {
    failed += 1;
    const shown = await who.tab
      .locator('main')
      .innerText({ timeout: 1000 })
      .catch(() => '');
    console.log(`FAILED ${said}: ${error.stack}\n${shown.slice(0, 1500)}`);
  }
  await who.context.close();
}

/// All journeys with a site and a server of their own, each in the window that is chosen for it.
async function walkAll(pass, windowOf) {
  const site = await startSite();
  const server = new Server(`journeys ${pass}`);
  importPapers(server);
  await server.start();
  const journeys = [];
  const journey = (name, walk, options) =>
    journeys.push({ name, walk, options, window: windowOf(journeys.length) });
  for (const add of [begin, work, lists, rest, views, habits, keyboard]) add({ site, server, journey });
  const chosen = journeys.filter((one) => !wanted || one.name.includes(wanted));
  const isAlone = (one) => ALONE.some((start) => one.name.startsWith(start));
  const waiting = chosen.filter((one) => !isAlone(one));
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await walkOne(server, next, next.window);
    }),
  );
  for (const one of chosen.filter(isAlone)) await walkOne(server, one, one.window);
  await server.stop();
  site.close();
}

const windows = WINDOWS.filter(([width]) => asked.split(',').includes(width));
if (windows.length === 0) await walkAll('in turn', (place) => WINDOWS[place % WINDOWS.length]);
for (const window of windows) await walkAll(window[0], () => window);
await browser.close();
console.log(`${walked} journeys`);
if (failed > 0) process.exit(1);
console.log('all passed');
