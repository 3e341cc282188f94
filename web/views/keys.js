// Keys, what they may do, and what was used with them.

import { api, copy, count, html, may, session, toast, useLoad, useState } from '../core.js';
import {
  Badge,
  Button,
  Card,
  Check,
  Confirm,
  Dialog,
  Empty,
  Icon,
  Input,
  Loaded,
  Page,
  Problem,
  Stat,
  Time,
} from '../ui.js';

const SCOPES = {
  scrape: 'read single pages',
  crawl: 'read sites and batches',
  map: 'list the URLs of sites',
  search: 'search the web',
  research: 'search papers',
  agent: 'agent runs, extracts',
  parse: 'parse files',
  interact: 'browser sessions',
  monitor: 'monitors',
  admin: 'keys, settings, all activity',
};
const UNLIMITED = 2 ** 53 - 1;

function Create({ onDone }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const [scopes, setScopes] = useState(Object.keys(SCOPES).filter((scope) => scope !== 'admin'));
  const [made, setMade] = useState(null);
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      setMade(
        await api('/admin/keys', {
          method: 'POST',
          body: { name, scopes, ...(days ? { expiresInDays: Number(days) } : {}) },
        }),
      );
    } catch (problem) {
      setError(problem);
    }
  };
  const toggle = (scope, on) => setScopes(on ? [...scopes, scope] : scopes.filter((one) => one !== scope));
  if (made) {
    return html`<${Dialog} title="Your new key" onClose=${onDone}>
      <p>Copy it now: it is stored only as a hash and cannot be shown again.</p>
      <div class="key-shown gap-top"><span class="grow">${made.key}</span>
        <button type="button" class="icon-button" aria-label="Copy the key"
          onClick=${() => copy(made.key, 'Key copied')}><${Icon} name="copy" /></button></div>
      <div class="actions end"><${Button} kind="primary" onClick=${onDone}>Done</${Button}></div>
        </${Dialog}>`;
  }
  return html`<${Dialog} title="New key" onClose=${onDone}>
    <form onSubmit=${submit} class="stack">
      <${Input} label="Name" hint="To tell keys apart, such as the program that uses it." required maxlength="100" value=${name} onInput=${setName} autofocus />
      <fieldset><legend>What it may do</legend><div class="form">${Object.entries(SCOPES).map(
        ([scope, text]) => html`
        <${Check} key=${scope} label=${scope} hint=${text} checked=${scopes.includes(scope)}
          onInput=${(on) => toggle(scope, on)} />`,
      )}</div></fieldset>
      <${Input} label="Expires after days" type="number" min="1" max="3650" placeholder="never" value=${days}
        onInput=${setDays} />
      <${Problem} error=${error} />
      <div class="actions end"><${Button} onClick=${onDone}>Close</${Button}>
        <${Button} kind="primary" type="submit"
          disabled=${!name.trim() || scopes.length === 0}>Create</${Button}></div>
    </form></${Dialog}>`;
}

function Keys() {
  const list = useLoad((signal) => api('/admin/keys', { signal }).then((answer) => answer.data));
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState(null);
  const who = session.use();
  const revoke = async (yes) => {
    const key = revoking;
    setRevoking(null);
    if (!yes) return;
    await api(`/admin/keys/${key.id}`, { method: 'DELETE' }).then(
      () => toast(`${key.name} was revoked`),
      (problem) => toast(problem.message, 'bad'),
    );
    list.reload();
  };
  const mine = (key) => key.id === who.key;
  return html`
    <${Card} title="API keys" flush actions=${html`<${Button} kind="primary small"
      onClick=${() => setCreating(true)}>New key</${Button}>`}>
      ${
        creating &&
        html`<${Create} onDone=${() => {
          setCreating(false);
          list.reload();
        }} />`
      }
      ${
        revoking &&
        html`<${Confirm} title=${`Revoke ${revoking.name}?`} action="Revoke it" onAnswer=${revoke}
        text=${`Programs that use it stop working at once, and it cannot be undone.${mine(revoking) ? ' You are signed in with this key, and will be signed out.' : ''}`} />`
      }
      <${Loaded} from=${list}>${(keys) => html`<div class="scroll" tabindex="0"><table>
        <thead><tr><th scope="col">Name</th><th scope="col">Key</th><th scope="col">May</th>
          <th scope="col">Last used</th><th scope="col">Status</th><th scope="col">
          <span class="muted">Action</span></th></tr></thead>
        <tbody>${[...keys].reverse().map(
          (key) => html`<tr key=${key.id}>
          <td class="break"><strong>${key.name}</strong>${mine(key) && html` <${Badge}
            status="new">yours</${Badge}>`}<br /><span class="muted small">since <${Time}
            at=${key.createdAt} /></span></td>
          <td><code>${key.hint}</code></td>
          <td class="small">${key.scopes.length === Object.keys(SCOPES).length ? 'everything' : key.scopes.join(', ')}</td>
          <td class="nowrap">${key.lastUsedAt ? html`<${Time}
            at=${key.lastUsedAt} />` : html`<span class="muted">never</span>`}</td>
          <td><${Badge} status=${key.status} />${key.expiresAt && html`<br />
            <span class="muted small">until <${Time} at=${key.expiresAt} /></span>`}</td>
          <td>${key.status === 'active' && html`<${Button} kind="small danger"
            aria-label=${`Revoke ${key.name}`} onClick=${() => setRevoking(key)}>Revoke</${Button}>`}</td>
        </tr>`,
        )}</tbody></table></div>`}</${Loaded}>
    </${Card}>`;
}

/// Credits by month as bars.
function Chart({ periods }) {
  const months = new Map();
  for (const one of periods) months.set(one.startDate, (months.get(one.startDate) ?? 0) + one.creditsUsed);
  const bars = [...months].sort(([a], [b]) => a.localeCompare(b)).slice(-12);
  const most = Math.max(1, ...bars.map(([, value]) => value));
  const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: '2-digit', timeZone: 'UTC' });
  const step = 560 / Math.max(bars.length, 6);
  return html`<svg class="chart" viewBox="0 0 600 170" role="img"
    aria-label=${`Credits by month: ${bars.map(([start, value]) => `${month.format(new Date(start))} ${value}`).join(', ')}`}>
    <line x1="20" y1="140" x2="580" y2="140" />
    ${bars.map(([start, value], index) => {
      const height = Math.max(2, (value / most) * 110);
      const x = 20 + index * step;
      return html`<rect x=${x + step * 0.2} y=${140 - height} width=${step * 0.6} height=${height} rx="3" />
        <text x=${x + step / 2} y=${134 - height} text-anchor="middle">${count(value)}</text>
          <text x=${x + step / 2} y="158" text-anchor="middle">${month.format(new Date(start))}</text>`;
    })}</svg>`;
}

function Usage() {
  const usage = useLoad(
    async (signal) => {
      const [credits, history, queue, browsers] = await Promise.all(
        [
          '/v2/team/credit-usage',
          '/v2/team/credit-usage/historical?byApiKey=true',
          '/v2/team/queue-status',
          '/v2/concurrency-check',
        ].map((path) => api(path, { signal })),
      );
      return { credits: credits.data, periods: history.periods, queue, browsers };
    },
    [],
    { every: 5000 },
  );
  return html`<${Loaded} from=${usage}>${({ credits, periods, queue, browsers }) => {
    const current = periods.filter((one) => one.startDate === credits.billingPeriodStart);
    const used = current.reduce((sum, one) => sum + one.creditsUsed, 0);
    return html`
      <div class="grid">
        <${Card} title="This month"><dl class="stats">
          <${Stat} name="Credits used">${count(used)}</${Stat}>
          <${Stat} name="Left">${credits.planCredits >= UNLIMITED ? 'unlimited' : count(credits.remainingCredits)}</${Stat}>
          <${Stat} name="Jobs running">${count(queue.activeJobsInQueue)}</${Stat}><${Stat}
            name="Jobs waiting">${count(queue.waitingJobsInQueue)}</${Stat}>
          <${Stat} name="Browsers">${count(browsers.concurrency)} of ${count(browsers.maxConcurrency)}</${Stat}></dl>
          ${
            current.length > 0 &&
            html`<table class="gap-top"><thead><tr><th scope="col">Key</th><th scope="col"
              class="num">Credits</th></tr></thead>
            <tbody>${current.map((one) => html`<tr><td class="break">${one.apiKey ?? 'without a key'}</td>
              <td class="num">${count(one.creditsUsed)}</td></tr>`)}</tbody></table>`
          }
        </${Card}>
        <${Card} title="Credits by month">${periods.length === 0 ? html`<${Empty}
          title="Nothing used yet" />` : html`<${Chart} periods=${periods} />`}</${Card}>
      </div>`;
  }}</${Loaded}>`;
}

export default function KeysAndUsage() {
  return html`<${Page} title="Keys and usage" lead="Who may call this server, and what was used.">
    <${Usage} />
    ${may('admin') ? html`<${Keys} />` : html`<${Card} title="API keys">
      <p>The key you signed in with may not see keys: it lacks the scope <code>admin</code>.</p></${Card}>`}
  </${Page}>`;
}
