// Settings: read only, each with where its value is from; the parts of the server; the limits in force.

import { api, askAgain, html, loadReport, toast, useLoad, useState } from '../core.js';
import { Badge, Button, Card, Check, Empty, Input, Loaded, Loading, Page, Time } from '../ui.js';

export default function Settings() {
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState('');
  const [changed, setChanged] = useState(false);
  const report = useLoad(loadReport, [], { every: askAgain });
  const checkAgain = async () => {
    setBusy(true);
    // It waits for every check.
    await api('/admin/report?fresh=true', { timeout: 120_000 }).catch((problem) =>
      toast(problem.message, 'bad'),
    );
    report.reload();
    setBusy(false);
  };
  const wanted = text.trim().toLowerCase();
  return html`<${Page} title="Settings"
    lead="Read only: they are set by flags, the environment, or gannet.toml, in this order.">
    <${Loaded} from=${report}>${(data) => {
      const shown = data.settings.filter(
        (one) =>
          (!changed || one.source !== 'default') && `${one.name} ${one.help}`.toLowerCase().includes(wanted),
      );
      return html`
        <${Card} title="Parts" actions=${html`
          ${data.checkedAt && html`<span class="muted small">checked <${Time} at=${data.checkedAt} /></span>`}
          <${Button} kind="small" busy=${busy || data.checking}
            onClick=${checkAgain}>Check again</${Button}>`}>
          ${!data.checkedAt && html`<${Loading} what="Checking the parts of the server" />`}
          <div class="parts">${data.parts.map(
            (part) => html`<div class="part" key=${part.part}><div>
            <${Badge} status=${part.verdict} /></div><div><strong>${part.part}</strong>
            <p class="small muted">${part.text}</p></div></div>`,
          )}</div></${Card}>
        <${Card} title="Settings" flush><div class="card-head form"><${Input} label="Find a setting"
          type="search" value=${text} onInput=${setText} />
            <${Check} label="Only what was set" checked=${changed} onInput=${setChanged} /></div>
          ${
            shown.length === 0
              ? html`<${Empty} title="No setting fits" />`
              : html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Setting</th>
                <th scope="col">Value</th><th scope="col">From</th></tr></thead>
            <tbody>${shown.map(
              (one) => html`<tr key=${one.name}><td><strong class="break">${one.name}</strong>
                <p class="muted small">${one.help}</p></td><td class="break"><code>${one.value}</code></td>
              <td class="break small">
                <span class=${one.source === 'default' ? 'muted' : ''}>${one.source}</span></td></tr>`,
            )}</tbody></table></div>`
          }</${Card}>
        <${Card} title="Limits in force" flush><div class="scroll" tabindex="0"><table>
          <tbody>${Object.entries(data.limits).map(
            ([name, value]) => html`<tr><th scope="row">${name}</th>
          <td class="break">${value}</td></tr>`,
          )}</tbody></table></div></${Card}>`;
    }}</${Loaded}></${Page}>`;
}
