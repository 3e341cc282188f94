// Home: the first steps with this server's address filled in, what the server lacks, and what happened last.

import {
  api,
  askAgain,
  copy,
  href,
  html,
  loadReport,
  may,
  session,
  toast,
  useLoad,
  useState,
} from '../core.js';
import { Badge, Button, Card, Code, Empty, Icon, Loaded, Loading, Page, RequestRow, Tabs, Time } from '../ui.js';

const base = location.origin;

const lines = (...texts) => texts.join('\n');

/// The same first call for every way to use the server.
function steps(key) {
  const body = '{"url":"https://example.com"}';
  return {
    curl: lines(
      `curl -s ${base}/v2/scrape \\`,
      `  -H "Authorization: Bearer ${key}" \\`,
      '  -H "Content-Type: application/json" \\',
      `  -d '${body}'`,
    ),
    python: lines(
      '# pip install firecrawl-py',
      'from firecrawl import Firecrawl',
      '',
      `app = Firecrawl(api_key="${key}", api_url="${base}")`,
      'print(app.scrape("https://example.com").markdown)',
    ),
    js: lines(
      '// npm install @mendable/firecrawl-js',
      'import Firecrawl from "@mendable/firecrawl-js";',
      '',
      `const app = new Firecrawl({ apiKey: "${key}", apiUrl: "${base}" });`,
      'console.log((await app.scrape("https://example.com")).markdown);',
    ),
    cli: lines(
      '# the same binary, with or without a server',
      'gannet scrape https://example.com',
      '',
      '# or the client of others against this server',
      `export FIRECRAWL_API_URL=${base} FIRECRAWL_API_KEY=${key}`,
      'npx firecrawl-cli scrape https://example.com',
    ),
    mcp: JSON.stringify(
      {
        mcpServers: {
          gannet: { type: 'http', url: `${base}/mcp`, headers: { Authorization: `Bearer ${key}` } },
        },
      },
      null,
      2,
    ),
  };
}

function FirstSteps() {
  const who = session.use();
  const [tab, setTab] = useState('curl');
  const [key, setKey] = useState(who.auth ? 'YOUR-KEY' : 'not-needed');
  const [busy, setBusy] = useState(false);
  const create = async () => {
    setBusy(true);
    try {
      const made = await api('/admin/keys', { method: 'POST', body: { name: 'from the dashboard' } });
      setKey(made.key);
      await copy(made.key, 'A new key was made and copied. It is shown only now.');
    } catch (error) {
      toast(error.message, 'bad');
    }
    setBusy(false);
  };
  const texts = steps(key);
  const names = [
    ['curl', 'curl'],
    ['python', 'Python'],
    ['js', 'JavaScript'],
    ['cli', 'CLI'],
    ['mcp', 'MCP'],
  ];
  const make = who.auth && may('admin') && key === 'YOUR-KEY';
  return html`
    <${Card} title="First steps" actions=${make && html`<${Button} kind="small" busy=${busy}
      onClick=${create}>Fill in a new key</${Button}>`}>
      <${Tabs} label="Ways to call this server" tabs=${names} value=${tab} onChange=${setTab}>
        <${Code} text=${texts[tab]} label=${`first call, ${tab}`} />
      </${Tabs}>
    </${Card}>`;
}

const ORDER = { broken: 0, warning: 1, missing: 2, ok: 3 };

function Health() {
  const report = useLoad(loadReport, [], { every: askAgain });
  return html`
    <${Card} title="This server" actions=${html`<a class="small" href=${href('settings')}>All settings</a>`}>
      <${Loaded} from=${report}>${(data) => {
        const lacking = data.parts
          .filter((part) => part.verdict !== 'ok')
          .sort((a, b) => ORDER[a.verdict] - ORDER[b.verdict]);
        const good = data.parts.length - lacking.length;
        if (data.checkedAt === null) return html`<${Loading} what="Checking the parts of the server" />`;
        return html`
          <div class="parts">
            ${lacking.length === 0 && html`<p><${Badge}
              status="ok">all well</${Badge}> Everything that Gannet can use is there.</p>`}
            ${lacking.map(
              (part) => html`
              <div class="part"><div><${Badge} status=${part.verdict} /></div>
                <div><strong>${part.part}</strong><p class="small muted">${part.text}</p></div></div>`,
            )}
            <p class="small muted">
              ${lacking.length > 0 && `${good} of ${data.parts.length} parts are in order; `}
              checked <${Time} at=${data.checkedAt} />${data.checking && ', checking again …'}</p>
          </div>`;
      }}</${Loaded}>
    </${Card}>`;
}

function Recent() {
  const recent = useLoad(
    (signal) => api('/v2/team/activity?limit=6', { signal }).then((page) => page.data),
    [],
    { every: 5000 },
  );
  return html`
    <${Card} title="Last requests" flush actions=${html`<a class="small"
      href=${href('activity')}>All of today</a>`}>
      <${Loaded} from=${recent}>${(entries) =>
        entries.length === 0
          ? html`<${Empty} title="Nothing yet">
            <p>Try a page in the <a href=${href('playground')}>playground</a>.</p></${Empty}>`
          : html`<ul class="plain requests">${entries.map(
              (entry) => html`<li key=${entry.id}><${RequestRow} row=${entry} /></li>`,
            )}</ul>`}
      </${Loaded}>
    </${Card}>`;
}

const SHORTCUTS = [
  ['Scrape a page', 'scrape', 'play'],
  ['Crawl a site', 'crawl', 'crawl'],
  ['Ask the agent', 'agent', 'agent'],
  ['Search', 'search', 'search'],
];

export default function Home() {
  return html`
    <${Page} title="Home" lead=${html`Web data from ${base}`} actions=${SHORTCUTS.map(
      ([text, name, icon]) => html`
        <a class="button" href=${href('playground', [name])}><${Icon} name=${icon} size="16" /> ${text}</a>`,
    )}>
      <div class="grid">
        <${FirstSteps} />
        ${may('admin') && html`<${Health} />`}
      </div>
      <${Recent} />
    </${Page}>`;
}
