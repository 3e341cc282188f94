// Journeys of people through the dashboard, in a real Chromium against the real server.

import { assert, importPapers, launch, person, Server, startSite } from './ground.mjs';
import begin from './journeys-begin.mjs';
import habits from './journeys-habits.mjs';
import rest from './journeys-rest.mjs';
import views from './journeys-views.mjs';
import work from './journeys-work.mjs';

const site = await startSite();
const server = new Server('journeys');
importPapers(server);
await server.start();
const browser = await launch();
const journeys = [];
const journey = (name, walk, options) => journeys.push({ name, walk, options });
for (const add of [begin, work, rest, views, habits]) add({ site, server, journey });

/// Journeys that stop the server, or end the sign-ins of others, are walked alone.
const ALONE = ['the link of the start', 'a session that ended elsewhere', 'the server goes'];
const AT_ONCE = 3;
const wanted = process.argv[2];
let failed = 0;

async function walkOne({ name, walk, options }) {
  const who = await person(browser, server, options);
  const started = Date.now();
  try {
    await walk(who);
    assert(who.faults.length === 0, `on the way: ${who.faults.join('\n')}`);
    console.log(`ok ${name} (${Date.now() - started} ms)`);
  } catch (error) {
    failed += 1;
    const shown = await who.tab
      .locator('main')
      .innerText({ timeout: 1000 })
      .catch(() => '');
    console.log(`FAILED ${name}: ${error.stack}\n${shown.slice(0, 1500)}`);
  }
  await who.context.close();
}

const chosen = journeys.filter((one) => !wanted || one.name.includes(wanted));
const isAlone = (one) => ALONE.some((start) => one.name.startsWith(start));
const waiting = chosen.filter((one) => !isAlone(one));
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await walkOne(next);
  }),
);
for (const one of chosen.filter(isAlone)) await walkOne(one);
await browser.close();
await server.stop();
site.close();
console.log(`${chosen.length} journeys`);
if (failed > 0) process.exit(1);
console.log('all passed');
