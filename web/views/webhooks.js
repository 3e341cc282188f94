// Webhooks: the secret they are signed with, and deliveries that were given up, each to be sent again.

import { api, copy, html, toast, useLoad, useState } from '../core.js';
import { Button, Card, Confirm, Empty, Loaded, Page, Table, Time } from '../ui.js';

function Secret() {
  const secret = useLoad((signal) =>
    api('/v2/team/webhook-secret', { signal }).then((answer) => answer.data),
  );
  const [shown, setShown] = useState(false);
  const [asking, setAsking] = useState(false);
  const rotate = async (yes) => {
    setAsking(false);
    if (!yes) return;
    await api('/v2/team/webhook-secret/rotate', { method: 'POST' }).then(
      () => toast('There is a new secret; the previous one signs for a while longer'),
      (problem) => toast(problem.message, 'bad'),
    );
    secret.reload();
  };
  return html`<${Card} title="Signing secret" actions=${html`<${Button} kind="small"
    onClick=${() => setAsking(true)}>Replace it</${Button}>`}>
    ${asking && html`<${Confirm} title="Replace the secret?"
      text="Receivers have to be told the new one. The previous one goes on to sign for a while."
      action="Replace it" onAnswer=${rotate} />`}
    <${Loaded} from=${secret}>${(
      found,
    ) => html`<p class="gap-bottom">Receivers check with it that a message is from this server.</p>
      <div class="actions"><code class="break">${shown ? found.secret : '•'.repeat(24)}</code>
        <${Button} kind="small" aria-pressed=${shown}
          onClick=${() => setShown(!shown)}>${shown ? 'Hide' : 'Show'}</${Button}><${Button} kind="small"
          onClick=${() => copy(found.secret, 'Secret copied')}>Copy</${Button}></div>
      <p class="muted small gap-top">Since <${Time} at=${found.createdAt} /></p>`}</${Loaded}></${Card}>`;
}

export default function Webhooks() {
  const failed = useLoad(
    (signal) => api('/v2/team/webhooks/failed', { signal }).then((answer) => answer.data),
    [],
    { every: 5000 },
  );
  const again = async (one) => {
    await api(`/v2/team/webhooks/failed/${one.id}/retry`, { method: 'POST' }).then(
      () => toast('It is being sent again'),
      (problem) => toast(problem.message, 'bad'),
    );
    failed.reload();
  };
  return html`<${Page} title="Webhooks" lead="Messages about crawls, runs and monitors to servers of yours.">
    <${Secret} />
    <${Card} title="Given up" flush><${Loaded} from=${failed}>${(rows) =>
      rows.length === 0
        ? html`<${Empty} title="Every message was delivered">
          <p>Messages that no receiver took after all retries appear here.</p></${Empty}>`
        : html`<${Table} label="Messages that were given up" rows=${rows} columns=${[
            ['Event', (one) => one.type ?? one.event, 'nowrap'],
            ['Receiver', (one) => one.url, 'break'],
            [
              'Why',
              (one) => html`<span>${one.error ?? ''}<br /><span class="muted small">${one.attempts} attempts</span>
                </span>`,
              'break',
            ],
            ['Given up', (one) => html`<${Time} at=${one.failedAt} />`, 'nowrap'],
            ['Action', (one) => html`<${Button} kind="small" onClick=${() => again(one)}>Send again</${Button}>`],
          ]} />`}</${Loaded}></${Card}></${Page}>`;
}
