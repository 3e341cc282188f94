// Browser sessions: begin one, watch it, take it over with mouse and keyboard, run code in it, play it back;
// profiles.

import { api, bytes, count, duration, go, href, html, ownPath, toast, useLoad, useState } from '../core.js';
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
  Table,
  Time,
} from '../ui.js';

function Create({ onDone }) {
  const [form, setForm] = useState({ ttl: '600', profile: '' });
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const made = await api('/v2/browser', {
        method: 'POST',
        body: {
          ttl: Number(form.ttl),
          ...(form.profile.trim() ? { profile: { name: form.profile.trim() } } : {}),
        },
      });
      go('sessions', [made.id]);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return html`<${Dialog} title="New session" onClose=${onDone}><form class="stack" onSubmit=${submit}>
    <${Input} label="Ends after seconds" type="number" min="30" max="3600" required value=${form.ttl}
      onInput=${(ttl) => setForm({ ...form, ttl })} />
    <${Input} label="Profile"
      hint="A named state of cookies and logins to begin with and to save to. May be empty."
      value=${form.profile} onInput=${(profile) => setForm({ ...form, profile })} />
    <${Problem} error=${error} />
    <div class="actions end"><${Button} onClick=${onDone}>Close</${Button}><${Button} kind="primary"
      type="submit" busy=${busy}>Begin</${Button}></div></form></${Dialog}>`;
}

function Profiles() {
  const list = useLoad((signal) => api('/v2/profiles', { signal }).then((answer) => answer.profiles));
  const [removing, setRemoving] = useState(null);
  const remove = async (yes) => {
    const name = removing;
    setRemoving(null);
    if (!yes) return;
    await api(`/v2/profiles/${encodeURIComponent(name)}`, { method: 'DELETE' }).then(
      () => toast(`${name} was deleted`),
      (problem) => toast(problem.message, 'bad'),
    );
    list.reload();
  };
  return html`<${Card} title="Profiles" flush>${removing && html`<${Confirm} title=${`Delete ${removing}?`}
    text="Its cookies and logins are gone." action="Delete it" onAnswer=${remove} />`}
    <${Loaded} from=${list}>${(profiles) =>
      profiles.length === 0
        ? html`<${Empty} title="No profiles">
          <p>Begin a session with the name of a profile, and its logins are kept for the next one.</p>
          </${Empty}>`
        : html`<${Table} label="Profiles" rows=${profiles} id=${(one) => one.name} columns=${[
            [
              'Name',
              (one) => html`<strong>${one.name}</strong> ${one.inUse && html`<${Badge}
                status="running">in use</${Badge}>`}`,
              'break',
            ],
            ['Size', (one) => bytes(one.bytes)],
            ['Last used', (one) => html`<${Time} at=${one.lastUsed} />`],
            [
              'Action',
              (one) => html`<${Button} kind="small danger" aria-label=${`Delete ${one.name}`}
                onClick=${() => setRemoving(one.name)}>Delete</${Button}>`,
            ],
          ]} />`}</${Loaded}></${Card}>`;
}

const COLUMNS = [
  [
    'Session',
    (one) => html`<a href=${href('sessions', [one.id])} title=${one.id}><code>${one.id.slice(-12)}</code></a>`,
  ],
  ['Status', (one) => html`<${Badge} status=${one.status} />`],
  ['Began', (one) => html`<${Time} at=${one.createdAt} />`, 'nowrap'],
  [
    'Ends or ended',
    (one) => html`<span><${Time} at=${one.destroyedAt ?? one.expiresAt} />
      ${' '}<span class="muted small">${one.destroyedReason ?? ''}</span></span>`,
  ],
  ['Credits', (one) => one.creditsBilled ?? '–', 'num'],
];

const sessions = (signal) => api('/v2/browser', { signal }).then((answer) => answer.sessions);

function List() {
  const list = useLoad(sessions, [], { every: 3000 });
  const [creating, setCreating] = useState(false);
  return html`<${Page} title="Sessions" lead="Browsers that you, your code or an agent drive."
    actions=${html`<${Button} kind="primary" onClick=${() => setCreating(true)}>New session</${Button}>`}>
    ${creating && html`<${Create} onDone=${() => setCreating(false)} />`}
    <${Card} flush><${Loaded} from=${list}>${(rows) =>
      rows.length === 0
        ? html`<${Empty} title="No sessions yet">
          <p>A session is a browser of your own: watch it live, take it over, or drive it with Playwright.</p>
          </${Empty}>`
        : html`<${Table} label="Sessions, newest first" columns=${COLUMNS} rows=${rows} />`}</${Loaded}></${Card}>
    <${Profiles} /></${Page}>`;
}

const CODE_HINT =
  'With node, page is Playwright’s page; with bash, commands of agent-browser. Variables are kept.';

function RunCode({ id }) {
  const [code, setCode] = useState("await page.goto('https://example.com');\nawait page.title()");
  const [language, setLanguage] = useState('node');
  const [state, setState] = useState({});
  const run = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      setState({
        result: await api(`/v2/browser/${id}/execute`, { method: 'POST', body: { code, language } }),
      });
    } catch (error) {
      setState({ error });
    }
  };
  const { result } = state;
  return html`<${Card} title="Run code in it"><form class="stack" onSubmit=${run}>
    <${Area} label="Code" hint=${CODE_HINT} rows="5" value=${code} onInput=${setCode} />
    <div class="searchline"><${Select} label="Language" value=${language}
      options=${['node', 'python', 'bash']} onInput=${setLanguage} /><${Button} kind="primary" type="submit"
      busy=${state.busy}>Run</${Button}></div></form>
    <${Problem} error=${state.error} />
    ${
      result &&
      html`<div class="stack gap-top">${result.error && html`<p class="note warn">${result.error}</p>`}
      <${Code} text=${result.result || result.stdout || '(no output)'}
        label="Output" wrap />${result.stderr && html`<${Code} text=${result.stderr}
        label="Error output" wrap />`}</div>`
    }</${Card}>`;
}

const lengthOf = (page) => duration((page.endTimeMs - page.startTimeMs) / 1000);

function Replay({ id }) {
  const pages = useLoad(
    (signal) => api(`/v2/interact/${id}/replay`, { signal }).then((answer) => answer.pages),
    [id],
  );
  const [chosen, setChosen] = useState(0);
  return html`<${Card} title="Replay"><${Loaded} from=${pages}>${(rows) =>
    rows.length === 0
      ? html`<${Empty} title="Nothing was recorded" />`
      : html`
    <${Select} label="Page" value=${String(chosen)} onInput=${(value) => setChosen(Number(value))}
      options=${rows.map((one, index) => [
        String(index),
        `${index + 1}: ${one.pageUrl} (${lengthOf(one)})`,
      ])} />
    <iframe class="view-frame gap-top" title="Replay of the session" src=${ownPath(rows[chosen].url)}>
      </iframe>`}</${Loaded}></${Card}>`;
}

function One({ id }) {
  const list = useLoad(sessions, [id], { every: 3000 });
  const [driving, setDriving] = useState(false);
  const [asking, setAsking] = useState(false);
  if (!list.data) return html`<${Page} title="Session"><${Loaded} from=${list} /></${Page}>`;
  return html`<${Loaded} from=${list}>${(rows) => {
    const found = rows.find((one) => one.id === id);
    if (!found)
      return html`<${Page} title="Session"><${Empty} title="There is no such session"><p>
        <a href=${href('sessions')}>All sessions</a></p></${Empty}></${Page}>`;
    const active = found.status === 'active';
    const end = async (yes) => {
      setAsking(false);
      if (!yes) return;
      await api(`/v2/browser/${id}`, { method: 'DELETE' }).then(
        (answer) => toast(`Ended; ${count(answer.creditsBilled ?? 0)} credits`),
        (problem) => toast(problem.message, 'bad'),
      );
      list.reload();
    };
    const address = JSON.stringify(found.cdpUrl);
    const shown = ownPath(driving ? found.interactiveLiveViewUrl : found.liveViewUrl);
    return html`<${Page} title="Session" status=${found.status} lead=${id} actions=${
      active &&
      html`
        <${Button} aria-pressed=${driving}
          onClick=${() => setDriving(!driving)}>${driving ? 'Only watch' : 'Take over'}</${Button}>
        <${Button} kind="danger" onClick=${() => setAsking(true)}>End it</${Button}>`
    }>
      ${asking && html`<${Confirm} title="End this session?"
        text="The browser is closed; programs connected to it lose it." action="End it" onAnswer=${end} />`}
      ${active && found.streamWebView && html`<${Card}
        title=${driving ? 'Live view: you drive' : 'Live view'}><iframe key=${shown} class="view-frame"
        title="Live view of the browser" src=${shown}></iframe></${Card}>`}
      ${active && html`<${RunCode} id=${id} /><${Card} title="Connect your own program">
        <${Code} label="Playwright" text=${`const browser = await chromium.connectOverCDP(${address});`} />
        </${Card}>`}
      ${!active && html`<${Replay} id=${id} />`}</${Page}>`;
  }}</${Loaded}>`;
}

export default ({ args }) => (args[0] ? html`<${One} id=${args[0]} />` : html`<${List} />`);
