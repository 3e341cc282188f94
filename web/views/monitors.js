// Monitors: the list, a new one, and one of them with its timeline, its changes word by word, and "run now".

import { api, count, fullTime, go, href, html, plural, toast, useLoad, useState } from '../core.js';
import {
  Area,
  Badge,
  Button,
  Card,
  Code,
  Confirm,
  Dialog,
  Empty,
  Input,
  Loaded,
  Page,
  Problem,
  Select,
  Stat,
  Time,
  WebLink,
} from '../ui.js';
import { Diff } from '../parts/diff.js';

function Create({ onDone }) {
  const [form, setForm] = useState({
    name: '',
    kind: 'scrape',
    target: '',
    schedule: 'every 30 minutes',
    goal: '',
  });
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const set = (name) => (value) => setForm({ ...form, [name]: value });
  const lines = form.target
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    const target = {
      scrape: { type: 'scrape', urls: lines },
      crawl: { type: 'crawl', url: lines[0] },
      search: { type: 'search', queries: lines },
    }[form.kind];
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    try {
      const body = {
        name: form.name,
        schedule: { text: form.schedule, timezone: zone },
        targets: [target],
        ...(form.goal.trim() ? { goal: form.goal } : {}),
      };
      const made = await api('/v2/monitor', { method: 'POST', body });
      go('monitors', [made.data.id]);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const what = {
    scrape: ['Pages', 'One address per line.'],
    crawl: ['Start of the site', 'One address; the pages it leads to are checked.'],
    search: ['Queries', 'One per line.'],
  }[form.kind];
  return html`<${Dialog} title="New monitor" onClose=${onDone}><form onSubmit=${submit} class="stack">
    <${Input} label="Name" required maxlength="256" value=${form.name} onInput=${set('name')} autofocus />
    <${Select} label="What to watch" value=${form.kind} options=${[
      ['scrape', 'Pages'],
      ['crawl', 'A site'],
      ['search', 'A search'],
    ]} onInput=${set('kind')} />
    <${Area} label=${what[0]} hint=${what[1]} rows="3" required value=${form.target}
      onInput=${set('target')} />
    <${Input} label="Schedule" hint="In words: every 30 minutes, daily at 9:00, every monday at 8:30."
      required value=${form.schedule} onInput=${set('schedule')} />
    <${Input} label="Goal" hint="What changes matter, in words; others are not reported. May be empty."
      value=${form.goal} onInput=${set('goal')} />
    <${Problem} error=${error} />
    <div class="actions end"><${Button} onClick=${onDone}>Close</${Button}><${Button} kind="primary"
      type="submit" busy=${busy} disabled=${!form.name.trim() || lines.length === 0}>Create</${Button}></div>
  </form></${Dialog}>`;
}

const targets = (monitor) =>
  monitor.targets.flatMap((one) => one.urls ?? one.queries ?? [one.url]).join(', ');

function List() {
  const list = useLoad(
    (signal) => api('/v2/monitor?limit=100', { signal }).then((answer) => answer.data),
    [],
    { every: 5000 },
  );
  const [creating, setCreating] = useState(false);
  return html`<${Page} title="Monitors" lead="Pages, sites and searches that are checked by a schedule."
    actions=${html`<${Button} kind="primary" onClick=${() => setCreating(true)}>New monitor</${Button}>`}>
    ${creating && html`<${Create} onDone=${() => setCreating(false)} />`}
    <${Card} flush><${Loaded} from=${list}>${(monitors) =>
      monitors.length === 0
        ? html`<${Empty} title="No monitors yet">
          <p>A monitor tells you when a page, a site or the results of a search change.</p></${Empty}>`
        : html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Monitor</th>
          <th scope="col">Last check</th><th scope="col">Found</th><th scope="col">Next</th>
          <th scope="col">Status</th></tr></thead>
        <tbody>${monitors.map(
          (
            one,
          ) => html`<tr key=${one.id}><td class="break"><a href=${href('monitors', [one.id])}>
            <strong>${one.name}</strong></a><br />
            <span class="muted small">${targets(one).slice(0, 120)}</span></td>
          <td class="nowrap">${one.lastRunAt ? html`<${Time} at=${one.lastRunAt} />` : '–'}</td>
            <td class="nowrap">${one.lastCheckSummary ? html`<${Summary}
            of=${one.lastCheckSummary} />` : '–'}</td>
          <td class="nowrap">${one.nextRunAt ? html`<${Time} at=${one.nextRunAt} />` : '–'}</td>
          <td><${Badge} status=${one.status} /></td></tr>`,
        )}</tbody></table></div>`}
    </${Loaded}></${Card}></${Page}>`;
}

function Summary({ of, isFirst }) {
  if (isFirst && of.changed + of.removed === 0)
    return html`<${Badge} status="new">First check, ${plural(of.new, 'page')}</${Badge}>`;
  const parts = ['changed', 'new', 'removed', 'error'].filter((name) => of[name] > 0);
  if (parts.length === 0)
    return html`<${Badge} status="same">${plural(of.totalPages, 'page')}, no change</${Badge}>`;
  return html`<span class="actions">${parts.map((name) => html`<${Badge}
    status=${name}>${of[name]} ${name}</${Badge}>`)}</span>`;
}

const judged = ({ meaningful, confidence, reason }) =>
  `${meaningful ? 'Matters' : 'Does not matter'} for the goal (${confidence}): ${reason}`;

/// What differed and did not count, and why.
const IgnoredParts = ({ parts }) => html`<details class="gap-top"><summary class="muted small">
  ${plural(parts.length, 'difference')} ignored</summary><ul class="small">${parts.map(
    (one) => html`<li class="break"><span class="muted">${one.reason}:</span> ${one.before ?? 'nothing'} →
      ${one.after ?? 'nothing'}</li>`,
  )}</ul></details>`;

function CheckPages({ monitor, check }) {
  const loaded = useLoad(
    (signal) =>
      api(`/v2/monitor/${monitor}/checks/${check.id}?limit=100`, { signal }).then(
        (answer) => answer.data.pages,
      ),
    [check.id, check.status],
  );
  return html`<${Loaded} from=${loaded}>${(pages) =>
    pages.length === 0
      ? html`<p class="muted">No pages.</p>`
      : pages.map(
          (page) => html`
    <article class="gap-top" key=${page.id}><p class="break"><${Badge} status=${page.status} /> <${WebLink}
      url=${page.url} /></p>
      ${page.error && html`<p class="muted">${page.error}</p>`}
      ${page.metadata?.ignored && html`<${IgnoredParts} parts=${page.metadata.ignored} />`}
      ${page.judgment && html`<p class="note gap-top">${judged(page.judgment)}</p>`}
      ${page.diff?.text && html`<div class="gap-top"><${Diff} text=${page.diff.text} /></div>`}
      ${!page.diff?.text && page.diff?.json && html`<${Code} text=${JSON.stringify(page.diff.json, null, 2)}
        label="Difference of the data" />`}</article>`,
        )}</${Loaded}>`;
}

const MAX_CHECKS = 50;

/// Pages that changed, came or went; what the first check read is no news.
const changes = ({ summary, isFirst }) => summary.changed + summary.removed + (isFirst ? 0 : summary.new);

/// The checks, newest first, with a mark on the first that read a page, where it is among them.
const withFirst = (checks) => {
  const first = checks.findLast(({ summary }) => summary.totalPages > summary.error);
  return checks.map((one) => ({ ...one, isFirst: one === first && checks.length < MAX_CHECKS }));
};

/// The checks as one line, oldest first: how many pages each found changed. Each bar leads to its check.
function Strip({ id, checks }) {
  const shown = [...checks].reverse();
  if (shown.length < 3) return null;
  const step = 12;
  const most = Math.max(1, ...shown.map(changes));
  return html`<svg class="strip gap-bottom" viewBox="0 0 604 30" role="group"
    aria-label="Changes found by each check">
    <line x1="0" y1="29" x2="604" y2="29" />
    ${shown.map((check, index) => {
      const failed = check.status === 'failed' || check.summary.error > 0;
      const height = changes(check) > 0 ? 8 + (changes(check) / most) * 18 : 4;
      const what = failed ? 'failed' : `${changes(check)} changed`;
      const says = `${fullTime(check.startedAt ?? check.scheduledFor)}: ${what}`;
      return html`<a key=${check.id} href=${href('monitors', [id, check.id])} aria-label=${says}>
        <title>${says}</title>
        <rect class=${failed ? 'bad' : changes(check) > 0 ? 'warn' : 'quiet'} rx="2"
          x=${index * step} y=${28 - height} width=${step - 4} height=${height} /></a>`;
    })}</svg>`;
}

function One({ id, checkId }) {
  const [asking, setAsking] = useState(false);
  const monitor = useLoad(
    (signal) => api(`/v2/monitor/${id}`, { signal }).then((answer) => answer.data),
    [id],
    { every: 4000 },
  );
  const checks = useLoad(
    (signal) =>
      api(`/v2/monitor/${id}/checks?limit=${MAX_CHECKS}`, { signal }).then((answer) =>
        withFirst(answer.data),
      ),
    [id],
    { every: 2000 },
  );
  const act = async (call, done) => {
    await call.then(
      () => toast(done),
      (problem) => toast(problem.message, 'bad'),
    );
    monitor.reload();
    checks.reload();
  };
  return html`<${Loaded} from=${monitor}>${(found) => {
    const paused = found.status === 'paused';
    const runNow = () => act(api(`/v2/monitor/${id}/run`, { method: 'POST' }), 'The check runs');
    const pause = () => {
      const body = { status: paused ? 'active' : 'paused' };
      return act(api(`/v2/monitor/${id}`, { method: 'PATCH', body }), paused ? 'Goes on' : 'Paused');
    };
    const remove = async (yes) => {
      setAsking(false);
      if (!yes) return;
      await api(`/v2/monitor/${id}`, { method: 'DELETE' }).then(
        () => go('monitors'),
        (problem) => toast(problem.message, 'bad'),
      );
    };
    return html`<${Page} title=${found.name} status=${found.status}
      lead=${targets(found)} actions=${html`
        <${Button} kind="primary" onClick=${runNow}>Run now</${Button}>
        <${Button} onClick=${pause}>${paused ? 'Go on' : 'Pause'}</${Button}>
        <${Button} kind="danger" onClick=${() => setAsking(true)}>Delete</${Button}>`}>
      ${asking && html`<${Confirm} title="Delete this monitor?"
        text="Its checks and what they found are deleted too." action="Delete it" onAnswer=${remove} />`}
      <${Card}><dl class="stats"><${Stat}
        name="Schedule">${found.schedule.text ?? found.schedule.cron}</${Stat}>
        <${Stat} name="Next check">${found.nextRunAt ? html`<${Time}
          at=${found.nextRunAt} />` : '–'}</${Stat}><${Stat}
          name="Credits a month, at most">${count(found.estimatedCreditsPerMonth)}</${Stat}></dl>
        ${found.goal && html`<p class="note gap-top"><strong>Goal:</strong> ${found.goal}</p>`}</${Card}>
      <${Card} title="Timeline"><${Loaded} from=${checks}>${(rows) =>
        rows.length === 0
          ? html`<${Empty} title="No checks yet"><p>The first one runs at <${Time}
            at=${found.nextRunAt} />, or now.</p></${Empty}>`
          : html`<${Strip} id=${id} checks=${rows} /><ol class="timeline">${rows.map(
              (
                check,
              ) => html`<li key=${check.id}
                class=${changes(check) > 0 ? 'changed' : ''}>
          <p class="actions"><a href=${href('monitors', check.id === checkId ? [id] : [id, check.id])}
            aria-expanded=${check.id === checkId}><${Time} at=${check.startedAt ?? check.scheduledFor} /></a>
            <span class="muted small">${check.trigger}</span>
            ${
              check.status === 'completed'
                ? html`<${Summary} of=${check.summary} isFirst=${check.isFirst} />`
                : html`<${Badge} status=${check.status} />`
            }
            <span class="muted small">${plural(check.actualCredits, 'credit')}</span></p>
          ${check.error && html`<p class="muted small">${check.error}</p>`}
          ${check.id === checkId && html`<${CheckPages} monitor=${id} check=${check} />`}</li>`,
            )}</ol>`}</${Loaded}></${Card}>
    </${Page}>`;
  }}</${Loaded}>`;
}

export default ({ args }) =>
  args[0] ? html`<${One} id=${args[0]} checkId=${args[1]} />` : html`<${List} />`;
