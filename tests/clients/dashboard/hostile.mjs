// Hostile text in titles, text, addresses, markdown, data, headers, names: shown in every view, none of it runs.

import { assert, eventually, launch, person, Server, settled, startSite } from './ground.mjs';

const HACK = 'window.hacked=1';
/// Each would set `window.hacked` where text becomes markup, a script, a style or an address that runs.
const FORMS = [
  `<script>${HACK}</script>`,
  `<img src=x onerror=${HACK}>`,
  `"><img src=x onerror=${HACK}>`,
  `'><svg onload=${HACK}>`,
  `<svg><script>${HACK}</script></svg>`,
  `<iframe srcdoc="<script>parent.hacked=1</script>">`,
  `<iframe src="javascript:parent.hacked=1">`,
  `<a href="javascript:${HACK}">x</a>`,
  `javascript:${HACK}`,
  `JaVaScRiPt:${HACK}`,
  `java\tscript:${HACK}`,
  ` javascript:${HACK}`,
  `data:text/html,<script>opener.hacked=1</script>`,
  `vbscript:${HACK}`,
  `[x](javascript:${HACK})`,
  `[x](JAVASCRIPT:${HACK})`,
  `[x](<javascript:${HACK}>)`,
  `[x](data:text/html;base64,PHNjcmlwdD4=)`,
  `![x](javascript:${HACK})`,
  `![x" onerror="${HACK}](x)`,
  `[x](http://a.test/" onmouseover="${HACK})`,
  `[<img src=x onerror=${HACK}>](http://a.test/)`,
  `\`<img src=x onerror=${HACK}>\``,
  `<details open ontoggle=${HACK}>`,
  `<body onload=${HACK}>`,
  `<input autofocus onfocus=${HACK}>`,
  `<video><source onerror=${HACK}></video>`,
  `<audio src=x onerror=${HACK}>`,
  `<object data="javascript:${HACK}">`,
  `<embed src="javascript:${HACK}">`,
  `<form action="javascript:${HACK}"><button>x</button></form>`,
  `<math><mtext></table><img src=x onerror=${HACK}>`,
  `<style>@import 'javascript:${HACK}';</style>`,
  `<link rel=stylesheet href="javascript:${HACK}">`,
  `<meta http-equiv=refresh content="0;url=javascript:${HACK}">`,
  `<base href="javascript:${HACK}//">`,
  `</textarea><script>${HACK}</script>`,
  `</title><script>${HACK}</script>`,
  `</pre><script>${HACK}</script>`,
  `--><script>${HACK}</script>`,
  `]]><script>${HACK}</script>`,
  `\${${HACK}}`,
  `{{constructor.constructor('${HACK}')()}}`,
  `{"__proto__":{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${HACK}>"}}}`,
  `<x onclick=${HACK} tabindex=1 autofocus onfocus=${HACK}>`,
  `&lt;script&gt;${HACK}&lt;/script&gt;`,
  `&#60;img src=x onerror=${HACK}&#62;`,
  `\u003cscript\u003e${HACK}\u003c/script\u003e`,
  `<scr<script>ipt>${HACK}</scr</script>ipt>`,
  `<svg><animate onbegin=${HACK} attributeName=x>`,
  `| a | b |\n|---|---|\n| <img src=x onerror=${HACK}> | [x](javascript:${HACK}) |`,
  `> <script>${HACK}</script>`,
  `- <img src=x onerror=${HACK}>`,
  `# <svg onload=${HACK}>`,
];

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const paragraphs = FORMS.map((form) => `<p>Form: ${escape(form)}</p>`).join('');
const links = FORMS.map(
  (form) =>
    `<li><a href="${escape(form)}">${escape(form)}</a> <a href="/path/${encodeURIComponent(form)}">${escape(form)}</a></li>`,
).join('');
const site = await startSite({
  '/hostile': `<!doctype html><html lang="en"><head><title>${escape(FORMS.slice(0, 6).join(' '))}</title><meta name="description" content="${escape(FORMS[2])}"><meta property="og:title" content="${escape(FORMS[3])}">
    <script type="application/ld+json">${JSON.stringify({ '@type': 'Product', name: FORMS[1], offers: { price: FORMS[4] } }).replaceAll('<', '\\u003c')}</script></head>
    <body><main><h1>${escape(FORMS[1])}</h1>${paragraphs}<ul>${links}</ul><pre>${escape(FORMS.join('\n'))}</pre></main></body></html>`,
});
const server = await new Server('hostile').start();
const browser = await launch();
const { tab, faults, go } = await person(browser, server);
const url = `${site.base}/hostile`;
const seen = [];

async function check(view, text) {
  if (text) await tab.getByText(text).first().waitFor();
  // What is loaded late, or runs on focus or on time, has had its chance.
  await tab.waitForTimeout(80);
  const found = await tab.evaluate(() => ({
    hacked: window.hacked,
    bad: [
      ...document.querySelectorAll(
        'a[href], iframe[src], form[action], object, embed, [onerror], [onload], [onfocus]',
      ),
    ]
      .filter(
        (one) =>
          one.matches('object, embed, [onerror], [onload], [onfocus]') ||
          !/^(https?:|#|\/)/.test(
            one.getAttribute('href') ?? one.getAttribute('src') ?? one.getAttribute('action') ?? '#',
          ),
      )
      .map((one) => one.outerHTML.slice(0, 200)),
  }));
  assert(found.hacked === undefined, `${view}: a script of the page ran`);
  assert(found.bad.length === 0, `${view}: ${found.bad.join('\n')}`);
  assert(tab.url().startsWith(server.base), `${view}: led away to ${tab.url()}`);
  seen.push(view);
}

// The server, full of it.
const [scraped, crawl, key, monitor, run] = await Promise.all([
  server.api('/v2/scrape', { url }),
  server.api('/v2/crawl', { url, limit: 40, crawlEntireDomain: true }),
  server.api('/admin/keys', { name: FORMS[1] }),
  server.api('/v2/monitor', {
    name: FORMS[3],
    goal: FORMS[1],
    schedule: { text: 'every 30 minutes' },
    targets: [{ type: 'scrape', urls: [url] }],
  }),
  server.api('/v2/agent', {
    prompt: `What is ${FORMS[0]} ${FORMS[14]}?`,
    urls: [url],
    effort: 'low',
    schema: {
      type: 'object',
      properties: { title: { type: 'string' }, form: { type: 'array', items: { type: 'string' } } },
    },
  }),
]);
for (const answer of [scraped, crawl, key, monitor, run]) assert(answer.success, JSON.stringify(answer));
for (const form of FORMS.slice(0, 12))
  await server.api('/v2/map', { url: `${site.base}/${encodeURIComponent(form)}`, search: form });
await server.api(`/v2/monitor/${monitor.data.id}/run`, {});

await go(`#/playground/scrape?url=${encodeURIComponent(url)}`);
for (const format of ['links', 'html', 'rawHtml', 'json'])
  await tab.getByRole('button', { name: format, exact: true }).click();
await tab.getByRole('button', { name: 'Run', exact: true }).click();
await tab.locator('.answer-line').waitFor();
for (const part of await tab.getByRole('tablist', { name: 'Parts of the answer' }).getByRole('tab').all()) {
  await part.click();
  await check(`playground, ${await part.textContent()}`);
}
await tab.getByRole('tab', { name: 'Markdown' }).click();
for (const link of await tab.locator('.prose a').all())
  assert(/^https?:/.test(await link.getAttribute('href')), 'only web addresses are links');
for (const form of FORMS.slice(6, 12)) {
  await go(`#/playground/scrape?url=${encodeURIComponent(form)}`);
  await check('playground, an address of its own');
}
await go(
  `#/playground/scrape?call=${Buffer.from(JSON.stringify({ body: { url: FORMS[1], __proto__: { x: 1 }, formats: FORMS.slice(0, 5) }, parameters: FORMS[0] })).toString('base64url')}`,
);
await check('playground, a shared call');

await go('#/home');
await check('home', 'Last requests');
await go('#/activity');
await check('activity', '/hostile');
await eventually(
  'the crawl ends',
  async () =>
    (await server.api(`/v2/crawl/${crawl.id}`)).status !== 'scraping' ||
    (await server.api(`/v2/crawl/${crawl.id}?limit=1`)).completed > 0,
);
await go(`#/crawls/crawl/${crawl.id}`);
await check('crawl, tree', 'hostile');
await tab.getByRole('tab', { name: /Errors/ }).click();
await check('crawl, errors');
await tab.getByRole('tab', { name: 'Documents' }).click();
await tab.locator('.doc-head').first().click();
await check('crawl, documents', 'Form:');
await go('#/crawls');
await check('crawls');
await go('#/agents');
await check('agents', 'What is');
await go(`#/agents/${run.id}`);
await eventually(
  'the run ends',
  async () => (await server.api(`/v2/agent/${run.id}`)).status !== 'processing',
);
for (const name of ['Trace', 'Result', 'Values and sources', 'Versions']) {
  await tab.getByRole('tab', { name }).click();
  await check(`agent run, ${name}`);
}
await go('#/keys');
await check('keys', FORMS[1]);
await tab.getByRole('button', { name: `Revoke ${FORMS[1]}` }).click();
await check('keys, a question');
await go('#/monitors');
await check('monitors', FORMS[3]);
site.pages['/hostile'] = site.pages['/hostile'].replace('Form:', `Changed ${escape(FORMS[1])} Form:`);
await eventually('the first check ends', async () =>
  ['completed', 'partial', 'failed'].includes(
    (await server.api(`/v2/monitor/${monitor.data.id}/checks`)).data[0]?.status,
  ),
);
await server.api(`/v2/monitor/${monitor.data.id}/run`, {});
await go(`#/monitors/${monitor.data.id}`);
await check('monitor', FORMS[3]);
await tab.locator('.timeline a').first().click();
await settled(tab);
await check('monitor, a check');
await go(`#/search?q=${encodeURIComponent(`form ${FORMS[0]}`)}`);
await settled(tab);
await check('search');
await go(`#/papers?q=${encodeURIComponent(FORMS[1])}`);
await settled(tab);
await check('papers');
await go('#/parse');
for (const [name, text] of [
  [`${FORMS[1].replaceAll('/', '')}.md`, FORMS.join('\n\n')],
  ['x.html', site.pages['/hostile']],
  ['x.csv', FORMS.map((form) => `"${form.replaceAll('"', '""')}"`).join('\n')],
]) {
  await tab
    .getByLabel('File to parse')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await tab.locator('.prose, .problem').first().waitFor();
  await check(`parse, ${name}`);
}
for (const mark of ['[', '`', '**', '![', '[a](', '_', '|a', '> ', '- ', '#', '<http://']) {
  const buffer = Buffer.from(mark.repeat(120_000 / mark.length));
  await tab.getByLabel('File to parse').setInputFiles({ name: 'long.md', mimeType: 'text/markdown', buffer });
  const started = Date.now();
  await tab.waitForFunction(() => !document.querySelector('.loading'));
  await tab.locator('.prose, .problem').first().waitFor();
  assert(Date.now() - started < 10_000, `${mark} without end holds the page`);
}
await server.api('/v2/batch/scrape', {
  urls: [url],
  webhook: { url: `${site.base}/${encodeURIComponent(FORMS[1])}`, events: ['completed'] },
});
for (const view of ['webhooks', 'sessions', 'settings', 'audit']) {
  await go(`#/${view}`);
  await settled(tab);
  await check(view);
}
for (const form of FORMS.filter((_, index) => index % 5 === 0)) {
  await go(`#/${encodeURIComponent(form)}/${encodeURIComponent(form)}?q=${encodeURIComponent(form)}`);
  await check('an address that leads nowhere');
}
assert(faults.filter((fault) => !fault.includes('Content Security Policy')).length === 0, faults.join('\n'));
assert(
  !faults.some((fault) => fault.includes('Content Security Policy')),
  `the policy had to stop something:\n${faults.join('\n')}`,
);
await browser.close();
await server.stop();
site.close();
console.log(`${FORMS.length} forms in ${new Set(seen).size} places: all passed`);
