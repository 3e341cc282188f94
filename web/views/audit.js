// The audit log: what happened to keys, sign-ins, applications, agents and settings, who did it and from where.

import { api, go, html, toast, useEffect, useLoad, useState } from '../core.js';
import { Button, Card, Empty, Loaded, Page, Select, Table, Time } from '../ui.js';

const GROUPS = [
  ['', 'Everything'],
  ['key', 'Keys'],
  ['sign_in', 'Sign-ins'],
  ['application', 'Applications'],
  ['agent', 'Agents'],
  ['monitor', 'Monitors'],
  ['webhook_secret', 'Webhook secrets'],
  ['plan', 'Plans'],
];

const ACTIONS = {
  'key.created': 'Key created',
  'key.rotated': 'New secret of a key',
  'key.changed': 'Hosts of a key changed',
  'key.revoked': 'Key revoked',
  'key.expired_use': 'Expired key used',
  'sign_in.started': 'Signed in',
  'sign_in.failed': 'Sign-in failed',
  'sign_in.ended': 'Signed out',
  'application.allowed': 'Application allowed',
  'application.denied': 'Application denied',
  'agent.registered': 'Agent registered',
  'webhook_secret.rotated': 'New webhook secret',
  'plan.changed': 'Plan changed',
  'monitor.created': 'Monitor created',
  'monitor.changed': 'Monitor changed',
  'monitor.deleted': 'Monitor deleted',
};

const BY = {
  sign_in: 'dashboard',
  link: 'link of the start',
  command_line: '',
  server: '',
  application: 'application',
  agent: 'agent',
  unknown: '',
};

const words = (name) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const said = (value) => (Array.isArray(value) ? value.join(', ') : String(value));
const detailsOf = (row) =>
  Object.entries(row.details)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${words(name)}: ${said(value)}`)
    .join(' · ');

const COLUMNS = [
  ['When', (row) => html`<${Time} at=${row.createdAt} />`, 'nowrap small'],
  ['What', (row) => ACTIONS[row.action] ?? row.action, 'nowrap'],
  [
    'Who',
    (row) => html`<span>${row.actor.name}${
      BY[row.actor.kind] && html`<br /><span class="muted small">${BY[row.actor.kind]}</span>`
    }</span>`,
    'break',
  ],
  ['From', (row) => row.address ?? '', 'nowrap small'],
  ['More', detailsOf, 'small break'],
];

export default function Audit({ query }) {
  const group = query.action ?? '';
  const filter = group ? `&action=${encodeURIComponent(group)}` : '';
  const first = useLoad((signal) => api(`/admin/audit?limit=100${filter}`, { signal }), [group]);
  const [older, setOlder] = useState({ rows: [], cursor: null });
  const [busy, setBusy] = useState(false);
  useEffect(() => setOlder({ rows: [], cursor: first.data?.cursor ?? null }), [first.data]);
  const load = async () => {
    setBusy(true);
    await api(`/admin/audit?limit=100${filter}&cursor=${older.cursor}`).then(
      (page) => setOlder((old) => ({ rows: [...old.rows, ...page.data], cursor: page.cursor })),
      (problem) => toast(problem.message, 'bad'),
    );
    setBusy(false);
  };
  const link = (format) => `/admin/audit/export?format=${format}${filter}`;
  return html`
    <${Page} title="Audit log" lead="What happened to keys, sign-ins, applications and settings, and who did it.">
      <${Card} flush>
        <div class="card-head form">
          <${Select} label="Show" value=${group} options=${GROUPS}
            onInput=${(value) => go('audit', [], { action: value }, { replace: true })} />
          <div class="actions"><a class="button small" href=${link('csv')} download>CSV</a>
            <a class="button small" href=${link('jsonl')} download>JSON lines</a></div>
        </div>
        <${Loaded} from=${first}>${(page) =>
          page.data.length === 0
            ? html`<${Empty} title="Nothing yet">
                <p>Keys that are made, sign-ins and what people allow appear here.</p></${Empty}>`
            : html`<${Table} label="Audit log, newest first" rows=${[...page.data, ...older.rows]}
                columns=${COLUMNS} />`}</${Loaded}>
        ${
          older.cursor &&
          html`<div class="pad"><${Button} busy=${busy} onClick=${load}>Load older rows</${Button}></div>`
        }
      </${Card}>
    </${Page}>`;
}
