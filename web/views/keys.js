// Keys and what they may do; what was used with them is in parts/usage.js.

import { api, copy, html, may, session, toast, useLoad, useState } from '../core.js';
import {
  Badge,
  Button,
  Card,
  Check,
  Confirm,
  Dialog,
  Icon,
  Input,
  Loaded,
  Page,
  Problem,
  Table,
  Time,
} from '../ui.js';
import { Usage } from '../parts/usage.js';

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

const CANNOT_UNDO = 'Programs that use it stop working at once, and it cannot be undone.';
const OWN_KEY = ' You are signed in with this key, and will be signed out.';
const scopesOf = (key) =>
  key.scopes.length === Object.keys(SCOPES).length ? 'everything' : key.scopes.join(', ');

function Create({ onDone }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const [hosts, setHosts] = useState('');
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
          body: {
            name,
            scopes,
            ...(days ? { expiresInDays: Number(days) } : {}),
            ...(hosts.trim() ? { hosts: hosts.split(/[\s,]+/).filter(Boolean) } : {}),
          },
        }),
      );
    } catch (problem) {
      setError(problem);
    }
  };
  const toggle = (scope, on) => setScopes(on ? [...scopes, scope] : scopes.filter((one) => one !== scope));
  if (made) {
    return html`<${Secret} title="Your new key" secret=${made.key} onDone=${onDone} />`;
  }
  return html`<${Dialog} title="New key" onClose=${onDone}>
    <form onSubmit=${submit} class="stack">
      <${Input} label="Name" hint="To tell keys apart, such as the program that uses it." required
        maxlength="100" value=${name} onInput=${setName} autofocus />
      <fieldset><legend>What it may do</legend><div class="form">${Object.entries(SCOPES).map(
        ([scope, text]) => html`
        <${Check} key=${scope} label=${scope} hint=${text} checked=${scopes.includes(scope)}
          onInput=${(on) => toggle(scope, on)} />`,
      )}</div></fieldset>
      <${Input} label="Expires after days" type="number" min="1" max="3650" placeholder="never" value=${days}
        onInput=${setDays} />
      <${Input} label="Reaches these hosts only" placeholder="all" value=${hosts} onInput=${setHosts}
        hint="example.org, *.example.org. Not with interact, monitor and admin." />
      <${Problem} error=${error} />
      <div class="actions end"><${Button} onClick=${onDone}>Close</${Button}>
        <${Button} kind="primary" type="submit"
          disabled=${!name.trim() || scopes.length === 0}>Create</${Button}></div>
    </form></${Dialog}>`;
}

/// A new secret, which is shown once.
function Secret({ title, secret, children, onDone }) {
  return html`<${Dialog} title=${title} onClose=${onDone}>
    <p>Copy it now: it is stored only as a hash and cannot be shown again.</p>
    <div class="key-shown gap-top"><span class="grow">${secret}</span>
      <button type="button" class="icon-button" aria-label="Copy the key"
        onClick=${() => copy(secret, 'Key copied')}><${Icon} name="copy" /></button></div>
    ${children}
    <div class="actions end"><${Button} kind="primary" onClick=${onDone}>Done</${Button}></div>
  </${Dialog}>`;
}

function Rotate({ of, onDone }) {
  const [hours, setHours] = useState('24');
  const [days, setDays] = useState('');
  const [made, setMade] = useState(null);
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    const query = `phaseOutHours=${Number(hours)}${days ? `&expiresInDays=${Number(days)}` : ''}`;
    await api(`/admin/keys/${of.id}/rotate?${query}`, { method: 'POST' }).then(setMade, setError);
  };
  if (made) {
    return html`<${Secret} title=${`New secret of ${of.name}`} secret=${made.key} onDone=${onDone}>
      <p class="gap-top">${
        Number(hours) > 0 ? `The one before works for ${hours} more hours.` : 'The one before has ended.'
      }</p></${Secret}>`;
  }
  return html`<${Dialog} title=${`New secret for ${of.name}`} onClose=${onDone}>
    <form onSubmit=${submit} class="stack">
      <p>The key keeps its name and what it may do. Programs go on with the secret they have until that ends.</p>
      <${Input} label="The secret before works for hours" hint="0 if it was leaked: it ends at once." required
        type="number" min="0" max="720" value=${hours} onInput=${setHours} autofocus />
      <${Input} label="The key expires after days" type="number" min="1" max="3650" placeholder="as before"
        value=${days} onInput=${setDays} />
      <${Problem} error=${error} />
      <div class="actions end"><${Button} onClick=${onDone}>Close</${Button}>
        <${Button} kind="primary" type="submit" disabled=${hours === ''}>Make it</${Button}></div>
    </form></${Dialog}>`;
}

function Keys() {
  const list = useLoad((signal) => api('/admin/keys', { signal }).then((answer) => answer.data));
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState(null);
  const [rotating, setRotating] = useState(null);
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
        rotating &&
        html`<${Rotate} of=${rotating} onDone=${() => {
          setRotating(null);
          list.reload();
        }} />`
      }
      ${
        revoking &&
        html`<${Confirm} title=${`Revoke ${revoking.name}?`} action="Revoke it" onAnswer=${revoke}
        text=${`${CANNOT_UNDO}${mine(revoking) ? OWN_KEY : ''}`} />`
      }
      <${Loaded} from=${list}>${(keys) => html`<${Table} label="API keys, newest first"
        rows=${[...keys].reverse()} columns=${[
          [
            'Name',
            (key) => html`<strong>${key.name}</strong>${mine(key) && html` <${Badge}
              status="new">yours</${Badge}>`}<br /><span class="muted small nowrap">since <${Time}
              at=${key.createdAt} /></span>`,
            'break',
          ],
          ['Key', (key) => html`<code>${key.hint}</code>`, 'nowrap'],
          [
            'May',
            (key) => html`<span>${scopesOf(key)}${
              key.hosts && html`<br /><span class="muted">on ${key.hosts.join(', ')}</span>`
            }</span>`,
            'small break',
          ],
          [
            'Last used',
            (key) => (key.lastUsedAt ? html`<${Time} at=${key.lastUsedAt} />` : html`<span class="muted">never</span>`),
            'nowrap',
          ],
          [
            'Status',
            (key) => html`<span><${Badge} status=${key.status} />${key.expiresAt && html`<br />
              <span class="muted small">until <${Time} at=${key.expiresAt} /></span>`}${key.replaced.map(
                (secret) => html`<br /><span class="muted small"><code>${secret.hint}</code> until <${Time}
                  at=${secret.expiresAt} /></span>`,
              )}</span>`,
          ],
          [
            'Action',
            (key) => key.status === 'active' &&
              html`<span class="actions"><${Button} kind="small" aria-label=${`New secret for ${key.name}`}
                onClick=${() => setRotating(key)}>New secret</${Button}>
              <${Button} kind="small danger" aria-label=${`Revoke ${key.name}`}
                onClick=${() => setRevoking(key)}>Revoke</${Button}></span>`,
          ],
        ]} />`}</${Loaded}>
    </${Card}>`;
}

export default function KeysAndUsage() {
  return html`<${Page} title="Keys and usage" lead="Who may call this server, and what was used.">
    <${Usage} />
    ${may('admin') ? html`<${Keys} />` : html`<${Card} title="API keys">
      <p>The key you signed in with may not see keys: it lacks the scope <code>admin</code>.</p></${Card}>`}
  </${Page}>`;
}
