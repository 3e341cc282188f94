// Playground: every endpoint with a form made from the OpenAPI document, the answer drawn, the same call as code, and
// an address that opens it again.

import { api, encodeCall, go, html, send, useEffect, useLoad, useRef, useState } from '../core.js';
import { Button, Card, Code, Empty, Field, Loaded, Page, Problem, Tabs } from '../ui.js';
import { ApiError, session } from '../core.js';
import { Answer, StoredScrape } from '../parts/answer.js';
import { FormField, JsonField, RequestForm, resolve } from '../parts/form.js';
import { snippets } from '../parts/snippets.js';

/// Short names in addresses of what people come for.
const SHORT = {
  scrape: 'post /v2/scrape',
  crawl: 'post /v2/crawl',
  map: 'post /v2/map',
  search: 'post /v2/search',
  agent: 'post /v2/agent',
  batch: 'post /v2/batch/scrape',
};
const REQUIRED = {
  scrape: ['url'],
  crawl: ['url'],
  map: ['url'],
  search: ['query'],
  agent: ['prompt'],
  batch: ['urls'],
};

function decode(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
      one.codePointAt(0),
    );
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

function operationsOf(document) {
  const all = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const type = Object.keys(operation.requestBody?.content ?? {})[0];
      if (operation.summary && (type === undefined || type === 'application/json'))
        all.push({ id: `${method} ${path}`, method: method.toUpperCase(), path, ...operation });
    }
  }
  return all;
}

function Picker({ operations, current }) {
  const tags = [...new Set(operations.map((one) => one.tags?.[0] ?? 'Other'))];
  const short = (id) => Object.entries(SHORT).find(([, full]) => full === id)?.[0] ?? id;
  return html`
    <div class="stack">
      <div class="chips">${Object.entries(SHORT).map(
        ([name, id]) => html`
        <button type="button" class="chip" aria-pressed=${id === current}
          onClick=${() => go('playground', [name])}>${name}</button>`,
      )}</div>
      <${Field} label="All endpoints">${(ids) => html`
        <select ...${ids} value=${current}
          onChange=${(event) => go('playground', [short(event.currentTarget.value)])}>
          ${tags.map(
            (tag) =>
              html`<optgroup label=${tag}>${operations
                .filter((one) => (one.tags?.[0] ?? 'Other') === tag)
                .map(
                  (one) => html`
            <option value=${one.id} selected=${one.id === current}>
              ${one.method} ${one.path} · ${one.summary}</option>`,
                )}</optgroup>`,
          )}
        </select>`}</${Field}>
    </div>`;
}

/// Where a finished call is watched further.
function followUp(operation, json) {
  if (operation.id === 'post /v2/crawl' && json.id)
    return ['Watch this crawl', ['crawls', ['crawl', json.id]]];
  if (operation.id === 'post /v2/batch/scrape' && json.id)
    return ['Watch this batch', ['crawls', ['batch', json.id]]];
  if (operation.id === 'post /v2/agent' && json.id) return ['Watch this run', ['agents', [json.id]]];
  if (operation.id === 'post /v2/monitor' && json.data?.id)
    return ['Open this monitor', ['monitors', [json.data.id]]];
  return null;
}

function Call({ document, operation, name, start, storedId }) {
  const schema = operation.requestBody
    ? resolve(document, operation.requestBody.content['application/json'].schema)
    : null;
  const parameters = (operation.parameters ?? []).filter((one) => one.in !== 'header');
  const [body, setBody] = useState(start.body ?? {});
  const [values, setValues] = useState(start.parameters ?? {});
  const [mode, setMode] = useState('form');
  const [language, setLanguage] = useState('curl');
  const [state, setState] = useState({});
  const form = useRef(null);
  useEffect(() => {
    // Who comes here wants to type. A field that somebody is in already keeps the focus.
    const at = document.activeElement;
    if (at && at !== document.body && at.id !== 'main' && !at.closest('a')) return;
    form.current?.querySelector('input, textarea, select')?.focus({ preventScroll: true });
  }, []);
  const filled = operation.path.replace(/\{(\w+)\}/g, (whole, key) =>
    values[key] ? encodeURIComponent(values[key]) : whole,
  );
  const query = new URLSearchParams(
    parameters
      .filter((one) => one.in === 'query' && values[one.name] !== undefined)
      .flatMap((one) => [values[one.name]].flat().map((value) => [one.name, value])),
  ).toString();
  const request = {
    base: location.origin,
    method: operation.method,
    path: filled,
    query,
    body: schema ? body : undefined,
  };
  const missing = [
    ...(REQUIRED[name] ?? []).filter((key) => body[key] === undefined),
    ...parameters.filter((one) => one.in === 'path' && !values[one.name]).map((one) => one.name),
  ];

  const run = async (event) => {
    event?.preventDefault();
    go('playground', [name], { call: encodeCall({ body, parameters: values }) }, { replace: true });
    const stop = new AbortController();
    setState({ busy: true, stop });
    const started = performance.now();
    try {
      const answer = await send(filled + (query ? `?${query}` : ''), {
        method: operation.method,
        body: request.body,
        signal: stop.signal,
        timeout: 0,
      });
      const text = await answer.text();
      const requestId = answer.headers.get('x-request-id');
      let json;
      try {
        json = JSON.parse(text);
      } catch {
        json = { text };
      }
      if (answer.status === 401 && session.get()) session.set(null);
      // Some answers say with status 200 that it did not work.
      const error =
        answer.ok && json?.success !== false
          ? null
          : new ApiError(json?.error ?? (text.slice(0, 300) || `The server answered ${answer.status}.`), {
              status: answer.status,
              code: json.code,
              details: json.details,
              requestId,
            });
      setState({
        json,
        error,
        status: answer.status,
        took: Math.round(performance.now() - started),
        size: text.length,
        requestId,
      });
    } catch (error) {
      setState(error.name === 'AbortError' ? {} : { error });
    }
  };
  const texts = snippets(request);
  const next = state.json && !state.error && followUp(operation, state.json);
  return html`
    <div class="two">
      <${Card} title=${operation.summary}>
        ${operation.description && html`<p class="muted small gap-bottom">${operation.description}</p>`}
        <form onSubmit=${run} class="stack" ref=${form}>
          ${
            parameters.length > 0 &&
            html`<div class="form">${parameters.map(
              (one) => html`
            <${FormField} key=${one.name} document=${document} name=${one.name}
              required=${one.in === 'path' || one.required}
              schema=${{ ...resolve(document, one.schema), description: one.description }}
                value=${values[one.name]}
              onChange=${(value) => setValues({ ...values, [one.name]: value })} />`,
            )}</div>`
          }
          ${
            schema &&
            html`<${Tabs} label="How to write the request" tabs=${[
              ['form', 'Form'],
              ['json', 'JSON'],
            ]} value=${mode} onChange=${setMode}>
            ${
              mode === 'form'
                ? html`<${RequestForm} document=${document} schema=${schema} value=${body}
                  onChange=${setBody} required=${REQUIRED[name] ?? []} />`
                : html`<${JsonField} label="Request body" rows="14" value=${body}
                  onChange=${(value) => setBody(value ?? {})} />`
            }</${Tabs}>`
          }
          <div class="actions">
            <${Button} kind="primary" type="submit" busy=${state.busy}
              disabled=${missing.length > 0}>Run</${Button}>
            ${state.busy && html`<${Button} onClick=${() => state.stop.abort()}>Stop waiting</${Button}>`}
            ${missing.length > 0 && html`<span class="muted small">Fill in ${missing.join(', ')}</span>`}
          </div>
        </form>
      </${Card}>
      <div class="stack">
        <${Card} title="Answer" actions=${next && html`<${Button} kind="small primary"
          onClick=${() => go(...next[1])}>${next[0]}</${Button}>`}>
          ${state.error && html`<${Problem} error=${state.error} />`}
          ${state.json && html`<${Answer} ...${state} />`}
          ${
            !state.json &&
            !state.error &&
            !state.busy &&
            (storedId
              ? html`<${StoredScrape} id=${storedId} />`
              : html`<${Empty} title="No answer yet">
                <p>Fill in the form and press Run. Nothing is sent before.</p></${Empty}>`)
          }
          ${state.busy && html`<div class="loading" role="status"><span class="spin" aria-hidden="true">
            </span> Waiting for the answer …</div>`}
        </${Card}>
        <${Card} title="The same call as code">
          <${Tabs} label="Languages" tabs=${[
            ['curl', 'curl'],
            ['python', 'Python'],
            ['js', 'JavaScript'],
            ['cli', 'Command line'],
          ]} value=${language} onChange=${setLanguage}>
            <${Code} text=${texts[language]} label=${`call, ${language}`} /></${Tabs}>
        </${Card}>
      </div>
    </div>`;
}

/// The address names the endpoint from the start: writing it there later would begin the view anew.
export default function Playground({ args, query }) {
  useEffect(() => {
    if (args.length === 0) go('playground', ['scrape'], query, { replace: true });
  }, []);
  return args.length === 0 ? null : html`<${Endpoint} args=${args} query=${query} />`;
}

function Endpoint({ args, query }) {
  const document = useLoad((signal) => api('/v2/openapi.json', { signal }));
  const name = args[0];
  const id = SHORT[name] ?? (args.length > 1 ? args.join('/') : name);
  const start = decode(query.call ?? '') ?? {
    body: query.url ? { url: query.url } : query.q ? { query: query.q } : {},
  };
  const [first] = useState(start);
  return html`
    <${Page} title="Playground"
      lead="Try every endpoint. The address of this page keeps the call: share it or come back to it.">
      <${Loaded} from=${document} what="Loading the description of the API">${(found) => {
        const operations = operationsOf(found);
        const operation =
          operations.find((one) => one.id === id) ?? operations.find((one) => one.id === SHORT.scrape);
        return html`<${Card}><${Picker} operations=${operations} current=${operation.id} /></${Card}>
          <${Call} key=${operation.id} document=${found} operation=${operation} name=${name} start=${first}
            storedId=${query.id} />`;
      }}</${Loaded}>
    </${Page}>`;
}
