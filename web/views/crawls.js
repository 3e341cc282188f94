// Crawls and batches: those of today, and one of them live: counts by fate, the tree of its pages, errors with their
// reasons, documents, downloads, cancel.

import {
  api,
  count,
  go,
  href,
  html,
  plural,
  toast,
  useEffect,
  useLoad,
  useRef,
  useState,
  useTab,
} from '../core.js';
import {
  Badge,
  Button,
  Card,
  Confirm,
  duration,
  Empty,
  Icon,
  Loaded,
  Page,
  Problem,
  RequestRows,
  Rows,
  Shares,
  Stat,
  Tabs,
  Time,
  WebLink,
} from '../ui.js';
import { downloadZip } from '../parts/files.js';
import { Markdown } from '../parts/markdown.js';

const PATHS = { crawl: '/v2/crawl', batch: '/v2/batch/scrape' };
const FINAL = new Set(['completed', 'failed', 'skipped', 'cancelled']);
/// The same in the bar and in the tree.
const TONE = {
  completed: 'good',
  failed: 'bad',
  skipped: 'quiet',
  cancelled: 'warn',
  queued: 'info',
  running: 'info',
  fetched: 'info',
};
const MAX_LINES = 50_000;

function List() {
  const load = async (signal) => {
    const [crawls, batches] = await Promise.all([
      api('/v2/team/activity?endpoint=crawl&limit=100', { signal }),
      api('/v2/team/activity?endpoint=batch_scrape&limit=100', { signal }),
    ]);
    return [...crawls.data, ...batches.data].sort((a, b) => b.created_at.localeCompare(a.created_at));
  };
  const list = useLoad(load, [], { every: 3000 });
  return html`
    <${Page} title="Crawls" lead="Crawls and batches of the last 24 hours."
      actions=${html`<a class="button primary" href=${href('playground', ['crawl'])}>New crawl</a>`}>
      <${Card} flush><${Loaded} from=${list}>${(rows) =>
        rows.length === 0
          ? html`<${Empty} title="No crawls today">
            <p>A crawl reads a whole site. <a href=${href('playground', ['crawl'])}>Start one</a>.</p>
            </${Empty}>`
          : html`<${RequestRows} items=${rows} label="Crawls, newest first" />`}</${Loaded}>
      </${Card}>
    </${Page}>`;
}

/// Follows a job until its end: its head, and every URL of its ledger. Lines that are final are not read again.
function useJob(path) {
  const [head, setHead] = useState(null);
  const [error, setError] = useState(null);
  const [lines, setLines] = useState([]);
  const [again, setAgain] = useState(0);
  const samples = useRef([]);
  useEffect(() => {
    const stop = new AbortController();
    let timer = null;
    let known = [];
    const readLedger = async () => {
      const open = known.findIndex((line) => !FINAL.has(line.state));
      let kept = open < 0 ? known : known.slice(0, open);
      for (;;) {
        const page = await api(`${path}/ledger?limit=1000&after=${kept.at(-1)?.number ?? 0}`, {
          signal: stop.signal,
        });
        kept = [...kept, ...page.data];
        if (!page.next || page.data.length === 0 || kept.length >= MAX_LINES) break;
      }
      known = kept;
      setLines(kept);
    };
    const tick = async () => {
      try {
        const status = await api(`${path}?limit=1`, { signal: stop.signal });
        await readLedger();
        samples.current = [...samples.current, [Date.now(), status.completed + status.failed]].slice(-15);
        setHead(status);
        setError(null);
        if (status.status === 'scraping') timer = setTimeout(tick, 1000);
      } catch (problem) {
        if (stop.signal.aborted) return;
        setError(problem);
        if (problem.status === 0 || problem.status >= 500) timer = setTimeout(tick, 2000);
      }
    };
    tick();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, again]);
  const [[from, before] = [0, 0], [to, after] = [0, 0]] = [samples.current[0], samples.current.at(-1)];
  const rate = to > from ? ((after - before) * 1000) / (to - from) : null;
  return { head, error, lines, rate, reload: () => setAgain(again + 1) };
}

/// URLs as a tree of hosts and folders, each node with what became of the pages in it.
function buildTree(lines) {
  const root = { name: '', children: new Map(), total: 0, bad: 0 };
  for (const line of lines) {
    let parts = [line.url];
    try {
      const url = new URL(line.url);
      const names = url.pathname.split('/').slice(1);
      parts = [url.host, ...names.slice(0, -1).slice(0, 12), `${names.at(-1) || '/'}${url.search}`];
    } catch {
      // Not an address: it stands for itself.
    }
    let node = root;
    for (const [index, part] of parts.entries()) {
      const key = index === parts.length - 1 ? `:${part}` : part;
      if (!node.children.has(key))
        node.children.set(key, { name: part, children: new Map(), total: 0, bad: 0 });
      node = node.children.get(key);
      node.total += 1;
      node.bad += line.state === 'failed' ? 1 : 0;
    }
    node.line = line;
  }
  return root;
}

function flatten(node, open, depth = 0, path = '', rows = []) {
  for (const [key, child] of node.children) {
    const id = `${path}/${key}`;
    const folder = child.children.size > 0;
    const shown = folder && (open[id] ?? depth < 2);
    rows.push({ child, depth, id, folder, open: shown });
    if (shown && rows.length < MAX_LINES) flatten(child, open, depth + 1, id, rows);
  }
  return rows;
}

const Why = ({ line }) =>
  line.error || line.reason
    ? html`<span class="muted ellipsis small hide-small"
      title=${line.error ?? ''}>${line.error ?? line.reason}</span>`
    : null;

function Tree({ lines }) {
  const [open, setOpen] = useState({});
  const rows = flatten(buildTree(lines), open);
  return html`<${Rows} items=${rows} height=${36} label="Pages as a tree" render=${(row) => html`
    <div class="tree-row" style=${{ paddingLeft: `${row.depth * 18}px` }}>
      ${
        row.folder
          ? html`<button type="button" class=${`twist ${row.open ? 'open' : ''}`} aria-expanded=${row.open}
            aria-label=${`${row.open ? 'Fold' : 'Unfold'} ${row.child.name}`}
          onClick=${() => setOpen({ ...open, [row.id]: !row.open })}><${Icon} name="right" size="14" />
            </button>
        <strong class="ellipsis">${row.child.name}</strong>
          <span class="muted small nowrap">${count(row.child.total)}
            ${row.child.bad > 0 && `, ${row.child.bad} failed`}</span>`
          : html`<span class=${`dot ${TONE[row.child.line?.state] ?? 'quiet'}`}
            title=${row.child.line?.state ?? ''}></span>
        <span class="ellipsis"><${WebLink} url=${row.child.line?.url}>${row.child.name}</${WebLink}></span>
        <span class="muted small nowrap">${row.child.line?.state}</span><${Why}
          line=${row.child.line ?? {}} />`
      }
    </div>`} />`;
}

function Errors({ path, lines }) {
  const reasons = new Map();
  for (const line of lines)
    if (line.state === 'skipped')
      reasons.set(line.reason ?? 'other', (reasons.get(line.reason ?? 'other') ?? 0) + 1);
  const failed = lines.filter((line) => line.state === 'failed');
  if (failed.length === 0 && reasons.size === 0)
    return html`<${Empty} title="No errors"><p>Every page that was read so far is there.</p></${Empty}>`;
  return html`
    ${
      failed.length > 0 &&
      html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Page</th>
        <th scope="col">Why it failed</th></tr></thead>
      <tbody>${failed.slice(0, 500).map(
        (line) => html`<tr key=${line.number}><td class="break"><${WebLink} url=${line.url} /></td>
        <td class="break">${line.error}<br /><code>${line.reason}</code></td></tr>`,
      )}</tbody></table></div>`
    }
    ${
      failed.length > 500 &&
      html`<p class="muted small">The first 500 of ${count(failed.length)};
        ${path}/ledger?state=failed has all.</p>`
    }
    ${
      reasons.size > 0 &&
      html`<h3 class="gap-top">Skipped</h3>
      <ul class="legend">${[...reasons].map(
        ([reason, number]) =>
          html`<li>${reason.replaceAll('_', ' ')} <strong>${count(number)}</strong></li>`,
      )}</ul>`
    }`;
}

function Documents({ path, head }) {
  const [skip, setSkip] = useState(0);
  const page = useLoad((signal) => api(`${path}?skip=${skip}&limit=10`, { signal }), [skip, head.status]);
  const [open, setOpen] = useState(null);
  return html`<${Loaded} from=${page}>${(found) =>
    found.data.length === 0
      ? html`<${Empty} title="No documents yet" />`
      : html`
    <ul class="plain">${found.data.map(
      (document, index) => html`<li class="doc" key=${skip + index}>
      <button type="button" class="doc-head" aria-expanded=${open === index}
        onClick=${() => setOpen(open === index ? null : index)}>
        <span class="ellipsis grow"><strong>${document.metadata?.title || 'Without a title'}</strong>
          ${' '}<span class="muted small">${document.metadata?.sourceURL ?? ''}</span></span>
        <span class="muted small nowrap">${document.metadata?.statusCode ?? ''}</span></button>
      ${open === index && html`<${Markdown}
        text=${document.markdown ?? JSON.stringify(document, null, 2)} />`}</li>`,
    )}</ul>
    <div class="actions gap-top"><${Button} kind="small" disabled=${skip === 0} onClick=${() => {
      setOpen(null);
      setSkip(Math.max(0, skip - 10));
    }}>Newer</${Button}>
      <span class="muted small">${skip + 1} to ${skip + found.data.length} of ${count(head.completed)}</span>
      <${Button} kind="small" disabled=${skip + found.data.length >= head.completed} onClick=${() => {
        setOpen(null);
        setSkip(skip + 10);
      }}>Next</${Button}></div>`}</${Loaded}>`;
}

function Job({ kind, id }) {
  const path = `${PATHS[kind]}/${id}`;
  const { head, error, lines, rate, reload } = useJob(path);
  const [tab, setTab] = useTab(['tree', 'errors', 'documents']);
  const [asking, setAsking] = useState(false);
  const [saving, setSaving] = useState(null);
  const title = kind === 'crawl' ? 'Crawl' : 'Batch';
  if (!head)
    return html`<${Page} title=${title}>${error ? html`<${Problem} error=${error}
      retry=${reload} />` : html`<${Loaded} from=${{}} />`}</${Page}>`;
  const running = head.status === 'scraping';
  const start = lines.find((line) => line.depth === 0)?.url ?? id;
  const speed = running && rate !== null ? rate : head.completed / head.duration;
  const cancel = async (yes) => {
    setAsking(false);
    if (!yes) return;
    await api(path, { method: 'DELETE' }).then(
      () => toast(`${title} cancelled`),
      (problem) => toast(problem.message, 'bad'),
    );
    reload();
  };
  const saveZip = async () => {
    setSaving(0);
    await downloadZip(path, `${kind}-${id}`, setSaving).catch((problem) => toast(problem.message, 'bad'));
    setSaving(null);
  };
  // Of what waits, no more than the limit allows is read; the rest is skipped when the crawl ends.
  const queued = Math.min(head.queued, Math.max(0, head.total - head.completed - head.failed));
  const parts = [
    ['completed', head.completed],
    ['failed', head.failed],
    ['queued', queued],
    ['skipped', head.skipped],
    ...(head.queued > queued ? [['over the limit', head.queued - queued, 'quiet']] : []),
    ...(head.cancelled > 0 ? [['cancelled', head.cancelled]] : []),
  ].map(([name, value, tone = TONE[name]]) => ({ name, value, tone }));
  return html`
    <${Page} title=${title} status=${head.status} lead=${start}
      actions=${running && html`<${Button} kind="danger"
        onClick=${() => setAsking(true)}>Cancel</${Button}>`}>
      ${asking && html`<${Confirm} title=${`Cancel this ${kind}?`}
        text=${`Done and kept: ${plural(head.completed, 'page')}. Given up: ${count(queued)} that wait.`}
        action="Cancel it" onAnswer=${cancel} />`}
      ${error && html`<${Problem} error=${error} retry=${reload} />`}
      ${head.error && html`<p class="note warn gap-bottom">${head.error}</p>`}
      ${head.warning && html`<p class="note warn gap-bottom">${head.warning}</p>`}
      <${Card}>
        <${Shares} label="URLs by what became of them" parts=${parts} />
        <dl class="stats gap-top">
          <${Stat} name="URLs found">${count(head.discovered)}</${Stat}>
          <${Stat} name="Credits">${count(head.creditsUsed)}</${Stat}>
          <${Stat} name=${running ? 'Running for' : 'Took'}>${duration(head.duration)}</${Stat}>
          <${Stat} name="Pages per second">${Number.isFinite(speed) ? speed.toFixed(1) : '–'}</${Stat}>
          <${Stat} name="Started"><${Time} at=${head.createdAt} /></${Stat}>
        </dl>
      </${Card}>
      <${Card} title="Pages" actions=${
        head.completed > 0 &&
        html`<span class="muted small">Download</span>
          <a class="button small" href=${`${path}/download?format=jsonl`} download>JSONL</a>
          <${Button} kind="small" busy=${saving !== null} onClick=${saveZip}>
            ${saving === null ? 'Markdown zip' : `${count(saving)} …`}</${Button}>
          <a class="button small" href=${`${path}/download?format=warc`} download
            title="What was kept of the pages: HTML where asked for, else markdown">WARC</a>`
      }>
        <${Tabs} label="Ways to see the pages" tabs=${[
          ['tree', 'Tree'],
          ['errors', `Errors (${head.failed})`],
          ['documents', 'Documents'],
        ]} value=${tab} onChange=${setTab}>
          ${tab === 'tree' && (lines.length === 0 ? html`<${Empty} title="No pages yet" />` : html`<${Tree}
            lines=${lines} />`)}
          ${tab === 'errors' && html`<${Errors} path=${path} lines=${lines} />`}
          ${tab === 'documents' && html`<${Documents} path=${path} head=${head} />`}
        </${Tabs}>
      </${Card}>
    </${Page}>`;
}

export default function Crawls({ args }) {
  const [kind, id] = args;
  if (kind && id && PATHS[kind]) return html`<${Job} kind=${kind} id=${id} />`;
  if (kind && !PATHS[kind]) go('crawls', [], {}, { replace: true });
  return html`<${List} />`;
}
