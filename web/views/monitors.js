// Monitors: the list, a new one, and one of them with who is told, its timeline, its changes word by word, what was
// ignored, and "run now".

import {
  api,
  copy,
  count,
  fullTime,
  go,
  href,
  html,
  ownPath,
  plural,
  toast,
  useLoad,
  useState,
} from '../core.js';
import {
  Badge,
  Button,
  Card,
  Code,
  Confirm,
  Empty,
  Loaded,
  Page,
  Stat,
  Table,
  Time,
  WebLink,
} from '../ui.js';
import { Diff } from '../parts/diff.js';
import { MonitorForm } from '../parts/monitor-form.js';

const targets = (monitor) =>
  monitor.targets.flatMap((one) => one.urls ?? one.queries ?? [one.url]).join(', ');

const COLUMNS = [
  [
    'Monitor',
    (one) => html`<a href=${href('monitors', [one.id])}><strong>${one.name}</strong></a><br />
      <span class="muted small">${targets(one).slice(0, 120)}</span>`,
    'break',
  ],
  ['Last check', (one) => (one.lastRunAt ? html`<${Time} at=${one.lastRunAt} />` : '–'), 'nowrap'],
  ['Found', (one) => (one.lastCheckSummary ? html`<${Summary} of=${one.lastCheckSummary} />` : '–')],
  ['Next', (one) => (one.nextRunAt ? html`<${Time} at=${one.nextRunAt} />` : '–'), 'nowrap'],
  ['Told', (one) => toldCount(one) || html`<span class="muted">nobody</span>`, 'nowrap'],
  ['Status', (one) => html`<${Badge} status=${one.status} />`],
];

/// How many receivers a monitor tells.
function toldCount({ notification, webhook }) {
  const mails = notification?.email?.enabled ? (notification.email.recipients ?? []).length : 0;
  return mails + (notification?.channels ?? []).length + (webhook ? 1 : 0);
}

function List() {
  const list = useLoad(
    (signal) => api('/v2/monitor?limit=100', { signal }).then((answer) => answer.data),
    [],
    { every: 5000 },
  );
  const [creating, setCreating] = useState(false);
  return html`<${Page} title="Monitors" lead="Pages, sites and searches that are checked by a schedule."
    actions=${html`<${Button} kind="primary" onClick=${() => setCreating(true)}>New monitor</${Button}>`}>
    ${creating && html`<${MonitorForm} onDone=${() => setCreating(false)} />`}
    <${Card} flush><${Loaded} from=${list}>${(monitors) =>
      monitors.length === 0
        ? html`<${Empty} title="No monitors yet">
          <p>A monitor tells you when a page, a site or the results of a search change.</p></${Empty}>`
        : html`<${Table} label="Monitors, newest first" columns=${COLUMNS} rows=${monitors} />`}
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

/// What is ignored because it was seen to change by itself; a clock or a counter is known without.
const LEARNT = ['volatile', 'sometimesMissing'];

/// What differed and did not count, and why. What was learnt can be forgotten.
function IgnoredParts({ monitor, page, parts }) {
  const [done, setDone] = useState(() => new Set());
  const watchAgain = async (one, index) => {
    const body = { url: page.url, line: one.before ?? one.after };
    await api(`/v2/monitor/${monitor}/watch-again`, { method: 'POST', body }).then(
      ({ forgotten }) => {
        setDone((old) => new Set([...old, index]));
        toast(
          forgotten > 0
            ? 'It is watched again: the next difference of this line is told.'
            : 'Nothing is remembered of this line: its next difference is told.',
        );
      },
      (problem) => toast(problem.message, 'bad'),
    );
  };
  return html`<details class="gap-top"><summary class="muted small">
    ${plural(parts.length, 'difference')} ignored</summary><ul class="ignored small">${parts.map(
      (one, index) => html`<li class="break"><span class="muted">${one.reason}:</span>
        ${' '}<del>${one.before ?? 'nothing'}</del> → <ins>${one.after ?? 'nothing'}</ins>
        ${
          LEARNT.includes(one.kind) &&
          html`<div><${Button} kind="small" disabled=${done.has(index)}
            onClick=${() => watchAgain(one, index)}>Watch this line again</${Button}></div>`
        }</li>`,
    )}</ul></details>`;
}

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
      ${
        page.metadata?.ignored &&
        html`<${IgnoredParts} monitor=${monitor} page=${page} parts=${page.metadata.ignored} />`
      }
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

/// What is known of the consent of a recipient.
const consentOf = (monitor, email) => {
  const found = (monitor.emailRecipientSubscriptions ?? []).find((one) => one.email === email);
  return found && found.status !== 'confirmed' ? ` (${found.status})` : '';
};

/// Who is told, and the page and the feed for whoever has their addresses.
function Told({ monitor, onEdit }) {
  const { email, channels = [], quietHours } = monitor.notification ?? {};
  const mails = email?.enabled ? (email.recipients ?? []) : [];
  const rows = [
    ...mails.map((one) => ['Mail', `${one}${consentOf(monitor, one)}`]),
    ...(monitor.webhook ? [['Webhook', monitor.webhook.url]] : []),
    ...channels.map((one) => [one.type, one.host]),
    ...(quietHours ? [['Quiet', `${quietHours.from} to ${quietHours.until}`]] : []),
  ];
  const [feed, timeline] = [ownPath(monitor.feedUrl), ownPath(monitor.timelineUrl)];
  return html`<${Card} title="Who is told" actions=${html`<${Button} kind="small"
    onClick=${onEdit}>Change it</${Button}>`}>
    ${
      rows.length === 0
        ? html`<p class="muted">Nobody is told. Changes are seen here and in the feed.</p>`
        : html`<ul class="plain told">${rows.map(
            ([kind, text]) => html`<li class="break"><strong>${kind}</strong> ${text}</li>`,
          )}</ul>`
    }
    <p class="actions gap-top small">
      ${feed && html`<a href=${feed}>Atom feed</a>
        <${Button} kind="small" onClick=${() => copy(new URL(feed, location.href).href, 'Address of the feed copied')}>
          Copy its address</${Button}>`}
      ${timeline && html`<a href=${timeline}>Page to share</a>`}
      <span class="muted">Whoever has these addresses can read them, without a key.</span></p></${Card}>`;
}

function One({ id, checkId }) {
  const [asking, setAsking] = useState(false);
  const [editing, setEditing] = useState(false);
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
  if (!monitor.data) return html`<${Page} title="Monitor"><${Loaded} from=${monitor} /></${Page}>`;
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
        <${Button} onClick=${() => setEditing(true)}>Edit</${Button}>
        <${Button} onClick=${pause}>${paused ? 'Go on' : 'Pause'}</${Button}>
        <${Button} kind="danger" onClick=${() => setAsking(true)}>Delete</${Button}>`}>
      ${asking && html`<${Confirm} title="Delete this monitor?"
        text="Its checks and what they found are deleted too." action="Delete it" onAnswer=${remove} />`}
      ${
        editing &&
        html`<${MonitorForm} monitor=${found} onDone=${(saved) => {
          setEditing(false);
          if (saved) {
            toast('The monitor was changed');
            monitor.reload();
          }
        }} />`
      }
      <${Card}><dl class="stats"><${Stat}
        name="Schedule">${found.schedule.text ?? found.schedule.cron}</${Stat}>
        <${Stat} name="Next check">${found.nextRunAt ? html`<${Time}
          at=${found.nextRunAt} />` : '–'}</${Stat}><${Stat}
          name="Credits a month, at most">${count(found.estimatedCreditsPerMonth)}</${Stat}></dl>
        ${found.goal && html`<p class="note gap-top"><strong>Goal:</strong> ${found.goal}</p>`}</${Card}>
      <${Told} monitor=${found} onEdit=${() => setEditing(true)} />
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
            ${check.status !== 'completed' && html`<${Badge} status=${check.status} />`}
            ${
              (check.status === 'completed' || check.summary.totalPages > 0) &&
              html`<${Summary} of=${check.summary} isFirst=${check.isFirst} />`
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
