// The form of a monitor, for a new one and for one that is changed: what is watched, when, what for, and who is told.

import { api, go, html, plural, useState } from '../core.js';
import { Area, Button, Dialog, Input, Problem, Select } from '../ui.js';

/// What each kind of target is written as, and which field of it holds the lines.
const KINDS = {
  scrape: ['Pages', 'One address per line.', 'urls'],
  crawl: ['Start of the site', 'One address; the pages it leads to are checked.', 'url'],
  search: ['Queries', 'One per line.', 'queries'],
};

/// Chat and push services: what they need besides their type.
const SERVICES = {
  slack: { url: 'Address of the incoming webhook' },
  discord: { url: 'Address of the webhook' },
  teams: { url: 'Address of the workflow' },
  mattermost: { url: 'Address of the incoming webhook' },
  ntfy: { url: 'Server (https://ntfy.sh by default)', room: 'Topic', token: 'Token, where needed' },
  gotify: { url: 'Server', token: 'Token of the application' },
  telegram: { token: 'Token of the bot', room: 'Chat: its number or @name' },
  matrix: { url: 'Homeserver', token: 'Token of the account', room: 'Room' },
  generic: { url: 'Address that takes JSON', token: 'Token, where needed' },
};

const linesOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

const textOf = (target) => [target[KINDS[target.type][2]] ?? []].flat().join('\n');

function targetOf({ original, type, text }) {
  const lines = linesOf(text);
  const field = KINDS[type][2];
  return { ...original, type, [field]: field === 'url' ? lines[0] : lines };
}

const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/// What the fields of a monitor begin with.
function startOf(monitor) {
  const notification = monitor?.notification ?? {};
  return {
    name: monitor?.name ?? '',
    schedule: monitor ? (monitor.schedule.text ?? monitor.schedule.cron) : 'every 30 minutes',
    goal: monitor?.goal ?? '',
    targets: (monitor?.targets ?? [{ type: 'scrape' }]).map((one) => ({
      original: one,
      type: one.type,
      text: textOf(one),
    })),
    emails: (notification.email?.recipients ?? []).join('\n'),
    webhook: monitor?.webhook?.url ?? '',
    channels: notification.channels ?? [],
    from: notification.quietHours?.from ?? '',
    until: notification.quietHours?.until ?? '',
  };
}

/// Who is told, as the API takes it; nothing where nobody is.
function notificationOf(form, before) {
  const recipients = linesOf(form.emails);
  const email = { ...before?.email, enabled: recipients.length > 0, recipients };
  const quiet =
    form.from && form.until ? { ...before?.quietHours, from: form.from, until: form.until } : undefined;
  return {
    ...(recipients.length > 0 || before?.email ? { email } : {}),
    ...(form.channels.length > 0 || before?.channels ? { channels: form.channels } : {}),
    ...(quiet ? { quietHours: quiet } : {}),
  };
}

/// A schedule in words, or as five fields.
const isCron = (text) =>
  /^(\S+\s+){4}\S+$/.test(text.trim()) && /[*\d]/.test(text[0]) && !/[a-z]{4}/i.test(text);
const scheduleOf = (text, timezone) => ({ [isCron(text) ? 'cron' : 'text']: text.trim(), timezone });

/// Only what differs from the monitor as it is: what is not named stays.
function changesOf(form, monitor) {
  const before = startOf(monitor);
  const changed = (name) => !same(form[name], before[name]);
  const told = notificationOf(form, monitor.notification);
  const body = {};
  if (changed('name')) body.name = form.name;
  if (changed('schedule')) body.schedule = scheduleOf(form.schedule, monitor.schedule.timezone);
  if (changed('goal')) body.goal = form.goal.trim() || null;
  if (changed('targets')) body.targets = form.targets.map(targetOf);
  if (changed('webhook'))
    body.webhook = form.webhook.trim() ? { ...monitor.webhook, url: form.webhook.trim() } : null;
  if (['emails', 'channels', 'from', 'until'].some(changed))
    body.notification = Object.keys(told).length > 0 ? told : null;
  return body;
}

function requestOf(form) {
  const told = notificationOf(form);
  return {
    name: form.name,
    schedule: scheduleOf(form.schedule, Intl.DateTimeFormat().resolvedOptions().timeZone),
    targets: form.targets.map(targetOf),
    ...(form.goal.trim() ? { goal: form.goal } : {}),
    ...(form.webhook.trim() ? { webhook: { url: form.webhook.trim() } } : {}),
    ...(Object.keys(told).length > 0 ? { notification: told } : {}),
  };
}

/// Channels that are there, each to be removed, and one to be added.
function Channels({ channels, onChange }) {
  const [next, setNext] = useState(null);
  const service = next && SERVICES[next.type];
  const isFull =
    next && Object.keys(service).every((name) => next[name] || /by default|where needed/.test(service[name]));
  const add = () => {
    const given = Object.entries(next).filter(([name, value]) => value && (name === 'type' || service[name]));
    onChange([...channels, Object.fromEntries(given)]);
    setNext(null);
  };
  return html`<fieldset class="stack"><legend>Chat and push services</legend>
    ${
      channels.length > 0 &&
      html`<ul class="plain">${channels.map(
        (one, index) => html`<li class="actions" key=${one.id ?? index}><span class="grow break">
          <strong>${one.type}</strong> ${one.host ?? one.url ?? one.room ?? ''}</span>
          <${Button} kind="small" aria-label=${`Remove ${one.type} ${one.host ?? ''}`}
            onClick=${() => onChange(channels.filter((_, at) => at !== index))}>Remove</${Button}></li>`,
      )}</ul>`
    }
    ${
      next === null
        ? html`<div><${Button} kind="small" onClick=${() => setNext({ type: 'slack' })}>Add a service</${Button}></div>`
        : html`<div class="form"><${Select} label="Service" value=${next.type} options=${Object.keys(SERVICES)}
            onInput=${(type) => setNext({ type })} />
          ${Object.entries(service).map(
            ([name, label]) => html`<${Input} key=${name} label=${label} value=${next[name] ?? ''}
              type=${name === 'token' ? 'password' : 'text'} autocomplete="off"
              onInput=${(value) => setNext({ ...next, [name]: value.trim() })} />`,
          )}</div>
          <div class="actions"><${Button} kind="small primary" disabled=${!isFull} onClick=${add}>Add it</${Button}>
            <${Button} kind="small" onClick=${() => setNext(null)}>Not now</${Button}></div>`
    }</fieldset>`;
}

/// `monitor` is the one that is changed; none for a new one.
export function MonitorForm({ monitor, onDone }) {
  const [form, setForm] = useState(() => startOf(monitor));
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const set = (name) => (value) => setForm({ ...form, [name]: value });
  const setTarget = (index, change) =>
    setForm({
      ...form,
      targets: form.targets.map((one, at) => (at === index ? { ...one, ...change } : one)),
    });
  const told = linesOf(form.emails).length + form.channels.length + (form.webhook.trim() ? 1 : 0);
  const isFull =
    form.name.trim() && form.schedule.trim() && form.targets.every((one) => linesOf(one.text).length > 0);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      if (monitor) {
        const body = changesOf(form, monitor);
        if (Object.keys(body).length > 0) await api(`/v2/monitor/${monitor.id}`, { method: 'PATCH', body });
        onDone(true);
      } else {
        const made = await api('/v2/monitor', { method: 'POST', body: requestOf(form) });
        go('monitors', [made.data.id]);
      }
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${monitor ? 'Edit the monitor' : 'New monitor'} onClose=${() => onDone(false)}>
    <form onSubmit=${submit} class="stack">
    <${Input} label="Name" required maxlength="256" value=${form.name} onInput=${set('name')} autofocus />
    ${form.targets.map((target, index) => {
      const [label, hint] = KINDS[target.type];
      return html`${
        !monitor &&
        html`<${Select} label="What to watch" value=${target.type} options=${[
          ['scrape', 'Pages'],
          ['crawl', 'A site'],
          ['search', 'A search'],
        ]} onInput=${(type) => setTarget(index, { type, original: {} })} />`
      }
      <${Area} label=${label} hint=${hint} rows="3" required value=${target.text}
        onInput=${(text) => setTarget(index, { text })} />`;
    })}
    <${Input} label="Schedule" hint="In words: every 30 minutes, daily at 9:00, every monday at 8:30."
      required value=${form.schedule} onInput=${set('schedule')} />
    <${Input} label="Goal" hint="What changes matter, in words; others are not reported. May be empty."
      value=${form.goal} onInput=${set('goal')} />
    <details open=${Boolean(monitor) && told > 0}>
      <summary>Who is told: ${told === 0 ? 'nobody yet' : plural(told, 'receiver')}</summary>
      <div class="stack">
        <${Area} label="Mail to" hint="One address per line; each is asked first. Needs a mail server (smtp_url)."
          rows="2" value=${form.emails} onInput=${set('emails')} />
        <${Input} label="Webhook" hint="An address that is sent every page and the end of every check."
          inputmode="url" value=${form.webhook} onInput=${set('webhook')} />
        <${Channels} channels=${form.channels} onChange=${set('channels')} />
        <div class="form">
          <${Input} label="Quiet from" type="time" value=${form.from} onInput=${set('from')} />
          <${Input} label="until" type="time" value=${form.until} onInput=${set('until')} />
        </div>
      </div>
    </details>
    <${Problem} error=${error} />
    <div class="actions end"><${Button} onClick=${() => onDone(false)}>Close</${Button}><${Button} kind="primary"
      type="submit" busy=${busy} disabled=${!isFull}>${monitor ? 'Save' : 'Create'}</${Button}></div>
  </form></${Dialog}>`;
}
