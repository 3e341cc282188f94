// Long lists with real rows: ten thousand requests of a day, and a crawl of five thousand pages. The server answers
// pages, only what is in sight is in the document, and scrolling stays smooth.

import { DatabaseSync } from 'node:sqlite';
import { assert, eventually, launch, person, Server, startSite } from './ground.mjs';

const REQUESTS = 10_000;
const PAGES = 5_000;
/// So many of the requests are scrolled to; all of them take a minute on a busy machine.
const LOADED = process.env.GANNET_TEST_SOAK ? REQUESTS : 3_000;
/// What a frame may take for half of them, and for nearly all of them on a machine that does other things too.
const [USUAL_FRAME, LONG_FRAME] = [50, 150];

const site = await startSite();
const server = await new Server('long').start();
await server.api('/v2/map', { url: `${site.base}/` });
const { id } = await server.api('/v2/batch/scrape', { urls: [`${site.base}/shop/small`] });
await eventually('the batch ends', async () => (await server.api(`/v2/batch/scrape/${id}`)).status === 'completed');
await server.stop();
fill(`${server.folder}/gannet.db`);
await server.start();

/// Copies the one request and the one page that there are, as often as needed.
function fill(file) {
  const database = new DatabaseSync(file);
  const copy = (table, changed, times, where) => {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const names = columns.map((column) => column.name);
    const values = names.map((name) => changed[name] ?? name);
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${times})
      INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${table}, n WHERE ${where}`);
  };
  database.exec('BEGIN');
  // Ids are in the order of time: those before the one that is there.
  const earlier = `unhex(printf('%012x', created_at - i * 1000) || hex(randomblob(10)))`;
  const request = { id: earlier, target: `target || 'request-' || i`, created_at: 'created_at - i * 1000' };
  copy('activity', request, REQUESTS - 2, `endpoint = 'map'`);
  const folder = `'${site.base}/part-' || (i / 50) || '/page-' || i`;
  const page = { seq: 'seq + i', number: 'number + i', key: 'randomblob(16)', url: folder };
  copy('entries', page, PAGES - 1, '1');
  database.exec(`UPDATE crawls SET completed = ${PAGES}, discovered = ${PAGES}, last_seq = ${PAGES}; COMMIT`);
  database.close();
}

/// Scrolls through a list as a person does who holds the key; what each frame took.
const scroll = (tab) =>
  tab.evaluate(async () => {
    const box = document.querySelector('.rows');
    const frames = [];
    const end = box.scrollHeight;
    for (let step = 0; step <= 120; step += 1) {
      const before = performance.now();
      box.scrollTop = (end / 120) * step;
      await new Promise(requestAnimationFrame);
      frames.push(performance.now() - before);
    }
    frames.sort((one, other) => one - other);
    const rows = document.querySelectorAll('.row').length;
    return { usual: frames[60], long: frames[114], rows, height: end };
  });

/// The best of three times: other tests run beside this one.
async function scrollQuietly(tab) {
  const times = [await scroll(tab), await scroll(tab), await scroll(tab)];
  return times.sort((one, other) => one.usual - other.usual)[0];
}

function judge(name, found, rows) {
  console.log(`${name}: ${JSON.stringify(found)}`);
  assert(found.rows < 60, `${name}: ${found.rows} rows in the document`);
  assert(found.height >= rows * 36, `${name}: ${found.height} pixels for ${rows} rows`);
  assert(found.usual <= USUAL_FRAME, `${name}: ${found.usual} ms for a frame`);
  assert(found.long <= LONG_FRAME, `${name}: ${found.long} ms for a long frame`);
}

const browser = await launch();
const { tab, faults, go } = await person(browser, server);
const largest = new Map();
tab.on('response', async (response) => {
  const kind = /activity|ledger/.exec(response.url())?.[0];
  const json = kind && (await response.json().catch(() => null));
  if (json?.data) largest.set(kind, Math.max(largest.get(kind) ?? 0, json.data.length));
});

await go('#/activity');
await tab.getByText('Load older requests').waitFor();
// Whoever scrolls to the end finds that the list goes on.
const loaded = await tab.evaluate(async (wanted) => {
  const box = document.querySelector('.rows');
  for (let end = performance.now() + 120_000; performance.now() < end; ) {
    box.scrollTop = box.scrollHeight;
    await new Promise(requestAnimationFrame);
    if (box.scrollHeight >= wanted * 44) break;
  }
  return Math.round(box.scrollHeight / 44);
}, LOADED);
assert(loaded >= LOADED, `${loaded} requests are listed`);
judge('activity', await scrollQuietly(tab), LOADED);

await go(`#/crawls/batch/${id}`);
await tab.getByRole('list', { name: 'Pages as a tree' }).waitFor();
await tab.getByRole('button', { name: /^Unfold part-\d+|^Fold part-\d+/ }).first().waitFor();
judge('crawl', await scrollQuietly(tab), PAGES);
assert(largest.get('activity') === 100 && largest.get('ledger') === 1000, JSON.stringify([...largest]));
assert(faults.length === 0, faults.join('\n'));
await browser.close();
await server.stop();
site.close();
console.log('all passed');
