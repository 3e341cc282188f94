// Authorize: an application asks for access. Who asks, where the browser goes next, what it would be allowed and for
// which team; then yes or no. Names come from the application and are shown as text.

import { api, html, useLoad, useState } from '../core.js';
import { Button, Card, Check, Loaded, Page, Problem, Stat } from '../ui.js';

const SCOPES = {
  search: 'Search the web',
  scrape: 'Read web pages',
  interact: 'Use browser sessions, with your profiles',
  parse: 'Parse files',
  monitor: 'Create, read and change monitors',
  crawl: 'Crawl sites, and read the results of crawls',
  map: 'List the pages of sites',
  agent: 'Start agent runs and read their results',
  research: 'Search papers',
};

export default function Authorize({ query }) {
  const asked = useLoad(
    (signal) =>
      api(`/admin/authorization?${new URLSearchParams(query)}`, { signal }).then((answer) => answer.data),
    [JSON.stringify(query)],
  );
  return html`
    <${Page} title="An application asks for access" lead="Allow it only if you have just started this yourself.">
      <${Loaded} from=${asked} what="Reading the request">${(data) => html`<${Decision} data=${data} query=${query} />`}
      </${Loaded}>
    </${Page}>`;
}

function Decision({ data, query }) {
  const [chosen, setChosen] = useState(data.scopes);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const decide = async (allow) => {
    setBusy(true);
    setError(null);
    try {
      const body = { request: query, allow, ...(allow ? { scopes: chosen } : {}) };
      location.assign((await api('/admin/authorization', { method: 'POST', body })).data.redirectTo);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const toggle = (scope) => (on) =>
    setChosen(data.scopes.filter((one) => (one === scope ? on : chosen.includes(one))));
  return html`
    <${Card} title="Who asks">
      <dl class="stats">
        <${Stat} name="Calls itself"><span class="break">${data.clientName}</span></${Stat}>
        ${data.clientHost && html`<${Stat} name="Described by"><span class="break">${data.clientHost}</span></${Stat}>`}
        <${Stat} name="Your browser goes to"><span class="break">${data.redirectHost}</span></${Stat}>
        <${Stat} name="Acts for the team"><span class="break">${data.team}</span></${Stat}>
      </dl>
      <p class="small muted">${
        data.redirectIsLocal
          ? 'The answer goes to an application on this machine. Nobody has checked its name.'
          : 'The answer goes to another machine. Make sure that you know it: nobody has checked the name.'
      }</p>
    </${Card}>
    <${Card} title="What it could do">
      <div class="stack">${data.scopes.map(
        (scope) => html`<${Check} key=${scope} label=${SCOPES[scope] ?? scope} hint=${scope}
          checked=${chosen.includes(scope)} onInput=${toggle(scope)} />`,
      )}</div>
      <p class="small muted">It gets a key of the team, which it renews by itself. You can revoke it under “Keys and
        usage”, and it ends with the key that you are signed in with.</p>
      <${Problem} error=${error} />
      <div class="actions end">
        <${Button} disabled=${busy} onClick=${() => decide(false)}>Deny</${Button}>
        <${Button} kind="primary" busy=${busy} disabled=${chosen.length === 0} onClick=${() => decide(true)}>Allow</${Button}>
      </div>
    </${Card}>`;
}
