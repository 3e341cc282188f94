// Webhooks: the secret they are signed with, and deliveries that were given up, each to be sent again.

import { api, copy, html, toast, useLoad, useState } from '../core.js';
import { Button, Card, Confirm, Empty, Loaded, Page, Time } from '../ui.js';

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
        : html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Event</th>
          <th scope="col">Receiver</th><th scope="col">Why</th><th scope="col">Given up</th><th scope="col">
          <span class="muted">Action</span></th></tr></thead><tbody>${rows.map(
            (one) => html`
        <tr key=${one.id}><td class="nowrap">${one.type ?? one.event}</td><td class="break">${one.url}</td>
          <td class="break">${one.error ?? ''}<br /><span class="muted small">${one.attempts} attempts</span>
          </td>
          <td class="nowrap"><${Time} at=${one.failedAt} /></td><td><${Button} kind="small"
            onClick=${() => again(one)}>Send again</${Button}></td></tr>`,
          )}</tbody></table></div>`}</${Loaded}></${Card}></${Page}>`;
}
