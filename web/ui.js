// Components that views are made of. All of them take text as text: nothing here writes HTML.

import {
  ApiError,
  copy,
  count,
  duration,
  endpointOf,
  fullTime,
  html,
  openActivity,
  plural,
  shortTime,
  useEffect,
  useRef,
  useState,
  webUrl,
} from './core.js';

const ICONS = {
  home: 'M3 11 12 4l9 7M5 10v10h5v-6h4v6h5V10',
  play: 'M7 5v14l12-7z',
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  crawl: 'M12 3v5M12 16v5M5 8h14v8H5zM5 12H2M22 12h-3',
  agent: 'M12 3v3M6 6h12v10H6zM9 10h.01M15 10h.01M9 13h6M8 20h8',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 21 21',
  papers: 'M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h5',
  sessions: 'M3 5h18v14H3zM3 9h18M6 7h.01M9 7h.01',
  monitors: 'M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  parse: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3',
  keys: 'M14 4a6 6 0 1 0-4.9 9L3 19v2h4v-2h2v-2h2l1.6-1.6A6 6 0 0 0 14 4zM16 8h.01',
  webhooks: 'M9 8a4 4 0 1 1 5 4l3 5M7 12a4 4 0 1 0 4 5h6a3 3 0 1 0 2-5',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  audit: 'M5 3h14v18H5zM9 8h6M9 12h6M9 16h3',
  docs: 'M4 4h7v16H4zM13 4h7v16h-7z',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M8 8h11v12H8zM5 16V4h11',
  out: 'M14 4h6v6M20 4l-9 9M10 5H4v15h15v-6',
  right: 'M9 5l7 7-7 7',
};

export const Icon = ({ name, size = 18 }) => html`
  <svg class="icon" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d=${ICONS[name]} /></svg>`;

/// A view with its heading, which also names the browser's tab; `status` is drawn beside it.
export function Page({ title, status, lead, actions, children }) {
  useEffect(() => {
    document.title = `${title} · Gannet`;
  }, [title]);
  return html`
    <header class="page-head">
      <div class="grow"><h1>${title} ${status && html`<${Badge} status=${status} />`}</h1>
        ${lead && html`<p class="lead">${lead}</p>`}</div>
      ${actions && html`<div class="actions">${actions}</div>`}
    </header>
    ${children}`;
}

export const Card = ({ title, actions, children, flush, class: extra = '' }) => html`
  <section class=${`card ${flush ? 'flush' : ''} ${extra}`}>
    ${
      title &&
      html`<div class="card-head">
      <h2>${title}</h2>${actions && html`<div class="actions">${actions}</div>`}</div>`
    }
    ${children}
  </section>`;

export const Button = ({ kind = '', busy, children, ...rest }) => html`
  <button type="button" class=${`button ${kind}`} disabled=${busy || rest.disabled} ...${rest}>
    ${busy && html`<span class="spin" aria-hidden="true"></span>`}${children}</button>`;

const TONES = {
  completed: 'good',
  active: 'good',
  ok: 'good',
  succeeded: 'good',
  same: 'quiet',
  new: 'info',
  changed: 'warn',
  scraping: 'info',
  processing: 'info',
  running: 'info',
  queued: 'quiet',
  fetched: 'info',
  skipped: 'quiet',
  failed: 'bad',
  error: 'bad',
  broken: 'bad',
  removed: 'bad',
  cancelled: 'quiet',
  destroyed: 'quiet',
  paused: 'quiet',
  missing: 'warn',
  warning: 'warn',
  partial: 'warn',
  expired: 'quiet',
  revoked: 'quiet',
  refused: 'warn',
  credit_limit_reached: 'warn',
};
export const Badge = ({ status, children }) => html`
  <span class=${`badge ${TONES[status] ?? 'quiet'}`}>
    ${children ?? String(status).replaceAll('_', ' ')}</span>`;

export function Time({ at }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((value) => value + 1), 15_000);
    return () => clearInterval(timer);
  }, []);
  return html`<time datetime=${at ?? ''} title=${fullTime(at)}>${shortTime(at)}</time>`;
}

/// A link to a page of the web, or its text where it is none.
export function WebLink({ url, children }) {
  const to = webUrl(url);
  const text = children ?? url;
  return to
    ? html`<a href=${to} target="_blank" rel="noopener noreferrer nofollow">${text}</a>`
    : html`<span>${text}</span>`;
}

export const Empty = ({ title, children }) => html`
  <div class="empty"><p class="empty-title">${title}</p>${children && html`<div>${children}</div>`}</div>`;

export const Loading = ({ what = 'Loading' }) => html`
  <div class="loading" role="status"><span class="spin" aria-hidden="true"></span> ${what} …</div>`;

const HELP = {
  0: 'Check that the server runs and that this machine reaches it, and try again.',
  401: 'Sign in again.',
  403: 'The key you signed in with has no right to this. Sign in with another one, or ask for the scope.',
  404: 'It may have expired, or belong to another team.',
  402: 'The credits of this month are used up.',
  429: 'Too many requests at once. Try again in a moment.',
};

/// What somebody can do about an error.
function helpFor(error) {
  // What is no answer of the API is a fault of this page.
  if (!(error instanceof ApiError))
    return 'This part of the dashboard failed. Reload the page; the API still works.';
  if (error.status >= 500 && !error.code)
    return 'The server could not do it. Try again; if it stays, its log has the reason under the id of this request.';
  if (error.status >= 200 && error.status < 400)
    return 'Something between this page and the server answered instead. Reload the page.';
  return HELP[error.status];
}

export function Problem({ error, retry, quiet }) {
  if (!error) return null;
  const help = !quiet && helpFor(error);
  return html`
    <div class="problem" role="alert">
      <p class="problem-text">${error.message || 'Something went wrong.'}</p>
      ${help && html`<p>${help}</p>`}
      ${
        Array.isArray(error.details) &&
        html`<ul>${error.details.slice(0, 10).map(
          (one) => html`
        <li><code>${(one.path ?? []).join('.') || 'request'}</code> ${one.message}</li>`,
        )}</ul>`
      }
      <p class="problem-meta">
        ${error.status ? `Status ${error.status}` : ''}${error.code ? ` · ${error.code}` : ''}
        ${error.requestId && html` · request <code>${error.requestId}</code>`}
        ${retry && html` <${Button} kind="small" onClick=${retry}>Try again</${Button}>`}
      </p>
    </div>`;
}

/// Draws what `useLoad` gave: an error, a sign that it loads, or the data. Data that could not be loaded again stays,
/// with a word about it.
export function Loaded({ from, what, children }) {
  if (from.error && !from.data) return html`<${Problem} error=${from.error} retry=${from.reload} />`;
  if (!from.data) return html`<${Loading} what=${what} />`;
  return html`${from.error && html`<${Stale} error=${from.error} retry=${from.reload} />`}${children(from.data)}`;
}

export const Stale = ({ error, retry }) => html`
  <p class="note warn stale" role="alert">This is what was known last. ${error.message}
    ${' '}<${Button} kind="small" onClick=${retry}>Try again</${Button}></p>`;

let ids = 0;
export function useId(prefix = 'f') {
  const id = useRef(null);
  if (!id.current) id.current = `${prefix}${(ids += 1)}`;
  return id.current;
}

export function Field({ label, hint, wide, children }) {
  const id = useId();
  return html`
    <div class=${`field ${wide ? 'wide' : ''}`}>
      <label for=${id}>${label}</label>
      ${children({ id, 'aria-describedby': hint ? `${id}h` : undefined })}
      ${hint && html`<p class="hint" id=${`${id}h`}>${hint}</p>`}
    </div>`;
}

export const Input = ({ label, hint, wide, value, onInput, ...rest }) => html`
  <${Field} label=${label} hint=${hint} wide=${wide}>${(ids) => html`
    <input ...${ids} ...${rest} value=${value}
      onInput=${(event) => onInput(event.currentTarget.value)} />`}</${Field}>`;

export const Area = ({ label, hint, wide = true, value, onInput, ...rest }) => html`
  <${Field} label=${label} hint=${hint} wide=${wide}>${(ids) => html`
    <textarea spellcheck="false" rows="4" ...${ids} ...${rest} value=${value}
      onInput=${(event) => onInput(event.currentTarget.value)}></textarea>`}</${Field}>`;

export const Select = ({ label, hint, value, options, onInput, ...rest }) => html`
  <${Field} label=${label} hint=${hint}>${(ids) => html`
    <select ...${ids} ...${rest} value=${value} onChange=${(event) => onInput(event.currentTarget.value)}>
      ${options.map((one) => {
        const [key, text] = Array.isArray(one) ? one : [one, one];
        return html`<option value=${key} selected=${key === value}>${text}</option>`;
      })}
    </select>`}</${Field}>`;

export function Check({ label, hint, checked, onInput, ...rest }) {
  const id = useId();
  return html`
    <div class="check">
      <input type="checkbox" id=${id} ...${rest} checked=${checked}
        aria-describedby=${hint ? `${id}h` : undefined}
        onChange=${(event) => onInput(event.currentTarget.checked)} />
      <div><label for=${id}>${label}</label>${hint && html`<p class="hint" id=${`${id}h`}>${hint}</p>`}</div>
    </div>`;
}

/// A table whose rows become blocks on a phone, each value with the name of its column. `columns` are
/// `[name, value of a row, class]`.
export const Table = ({ label, columns, rows, id = (row) => row.id }) => html`
  <div class="scroll" tabindex="0"><table class="stacked" role="table" aria-label=${label}>
    <thead role="rowgroup"><tr role="row">${columns.map(
      ([name, , extra]) => html`<th scope="col" role="columnheader" class=${extra}>${name}</th>`,
    )}</tr></thead>
    <tbody role="rowgroup">${rows.map(
      (row) =>
        html`<tr role="row" key=${id(row)}>${columns.map(
          ([name, value, extra]) =>
            html`<td role="cell" class=${extra} data-label=${name}>${value(row)}</td>`,
        )}</tr>`,
    )}</tbody></table></div>`;

/// What became of a request of the activity, and what it took: values that lists of requests show.
const Outcome = ({ of }) => of.status && html`<${Badge} status=${of.status} />`;
function pagesOf({ pages, failed_pages: failed }) {
  if (pages === undefined) return '';
  return `${plural(pages, 'page')}${failed > 0 ? `, ${count(failed)} failed` : ''}`;
}
export const tookOf = (of) => (Number.isFinite(of.duration_ms) ? duration(of.duration_ms / 1000) : '');
const costOf = (of) => (Number.isFinite(of.credits) ? plural(of.credits, 'credit') : '');

/// Tabs as the ARIA practices describe them: arrows move, the panel follows.
export function Tabs({ label, tabs, value, onChange, children }) {
  const id = useId('t');
  const at = Math.max(
    0,
    tabs.findIndex(([key]) => key === value),
  );
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next =
      event.key === 'Home'
        ? 0
        : event.key === 'End'
          ? tabs.length - 1
          : step && (at + step + tabs.length) % tabs.length;
    if (next === undefined) return;
    event.preventDefault();
    onChange(tabs[next][0]);
    document.getElementById(`${id}-${tabs[next][0]}`)?.focus();
  };
  return html`
    <div class="tabs" role="tablist" aria-label=${label} onKeyDown=${move}>
      ${tabs.map(
        ([key, text], index) => html`
        <button type="button" role="tab" id=${`${id}-${key}`} key=${key} aria-selected=${index === at}
          class="tab"
          aria-controls=${`${id}-panel`} tabindex=${index === at ? 0 : -1}
            onClick=${() => onChange(key)}>${text}</button>`,
      )}
    </div>
    <div role="tabpanel" id=${`${id}-panel`} aria-labelledby=${`${id}-${tabs[at][0]}`} tabindex="0"
      class="tabpanel">${children}</div>`;
}

/// More of a text is not drawn; copying it gives all.
const MAX_DRAWN_CHARACTERS = 300_000;

export function Code({ text, label = 'Code', wrap }) {
  const cut = text.length > MAX_DRAWN_CHARACTERS;
  return html`
    <div class="code">
      <button type="button" class="icon-button code-copy" title="Copy" aria-label=${`Copy ${label}`}
        onClick=${() => copy(text)}>
        <${Icon} name="copy" size="16" /></button>
      <pre class=${wrap ? 'wrap' : ''} tabindex="0" role="region" aria-label=${label}>
        ${cut ? text.slice(0, MAX_DRAWN_CHARACTERS) : text}</pre>
      ${cut && html`<p class="muted small">Only the beginning is drawn; copying gives all of it.</p>`}
    </div>`;
}

/// A question in the middle of the window. `onClose(false)` when it is left without an answer.
export function Dialog({ title, children, onClose, wide }) {
  const element = useRef(null);
  const id = useId('d');
  useEffect(() => {
    element.current.showModal();
    return () => element.current?.close?.();
  }, []);
  return html`
    <dialog ref=${element} class=${wide ? 'wide' : ''} aria-labelledby=${id} onCancel=${(event) => {
      event.preventDefault();
      onClose(false);
    }}>
      <h2 id=${id}>${title}</h2>${children}
    </dialog>`;
}

export const Confirm = ({ title, text, action, onAnswer }) => html`
  <${Dialog} title=${title} onClose=${onAnswer}>
    <p>${text}</p>
    <div class="actions end">
      <${Button} onClick=${() => onAnswer(false)}>Keep it</${Button}>
      <${Button} kind="danger" onClick=${() => onAnswer(true)}>${action}</${Button}>
    </div>
  </${Dialog}>`;

/// A long list of rows of one height: only those in sight are in the document. `onEnd` is called near its end.
export function Rows({ items, height = 44, render, label, max = 560, onEnd }) {
  const [top, setTop] = useState(0);
  const box = useRef(null);
  const shown = Math.min(max, items.length * height);
  const first = Math.max(0, Math.floor(top / height) - 6);
  const last = Math.min(items.length, Math.ceil((top + shown) / height) + 6);
  const frame = useRef(0);
  const scroll = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      if (!box.current) return;
      setTop(box.current.scrollTop);
      if (box.current.scrollTop + 2 * shown > box.current.scrollHeight) onEnd?.();
    });
  };
  return html`
    <div class="rows" ref=${box} style=${{ height: `${shown}px` }} onScroll=${scroll} tabindex="0"
      role="list" aria-label=${label}>
      <div class="rows-space" role="presentation" style=${{ height: `${items.length * height}px` }}>
        ${items.slice(first, last).map(
          (item, index) => html`
          <div class="row" role="listitem" key=${first + index} aria-setsize=${items.length}
            aria-posinset=${first + index + 1}
            style=${{ top: `${(first + index) * height}px`, height: `${height}px` }}>
            ${render(item, first + index)}</div>`,
        )}
      </div>
    </div>`;
}

/// Up to this width a row has three lines, as the style sheet draws them.
const NARROW = 560;
const [LINE, THREE_LINES] = [44, 86];

/// An address without what all of them begin with; it stands whole in the title.
const shortTarget = (target) => (target ?? '').replace(/^https?:\/\/(www\.)?/, '');

/// A request as a row: what was asked, what became of it, and what it took. On a phone it has three lines.
export const RequestRow = ({ row }) => html`
  <a class="line request" href=${openActivity(row)}>
    <strong class="activity-kind">${endpointOf(row)}</strong>
    <span class="request-outcome"><${Outcome} of=${row} /></span>
    <span class="ellipsis grow request-target" title=${row.target ?? ''}>${shortTarget(row.target)}</span>
    ${row.username && html`<span class="muted small ellipsis hide-small">${row.username}</span>`}
    <span class="muted small request-number">${pagesOf(row)}</span>
    <span class="muted small request-number">${tookOf(row)}</span>
    <span class="muted small request-number">${costOf(row)}</span>
    ${
      row.key_name &&
      html`<span class="muted small ellipsis request-key"
      title="Key">${row.key_name}</span>`
    }
    <span class="muted nowrap small request-time"><${Time} at=${row.created_at} /></span>
  </a>`;

/// Rows as they were drawn: while somebody scrolls, only those that come into sight are drawn anew.
const drawn = new WeakMap();
function drawRequest(row) {
  if (!drawn.has(row)) drawn.set(row, html`<${RequestRow} row=${row} />`);
  return drawn.get(row);
}

export const RequestRows = ({ items, label, onEnd }) => html`
  <${Rows} items=${items} label=${label} onEnd=${onEnd} height=${innerWidth <= NARROW ? THREE_LINES : LINE}
    render=${drawRequest} />`;

/// Parts of a whole as one bar, with their names and numbers beneath.
export function Shares({ parts, label }) {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  const says = parts.map((part) => `${part.value} ${part.name}`).join(', ');
  return html`
    <div class="shares">
      <div class="bar" role="img" aria-label=${`${label}: ${says}`}>
        ${parts
          .filter((part) => part.value > 0)
          .map(
            (part) => html`
          <span class=${`fill ${part.tone}`}
            style=${{ width: `${(100 * part.value) / Math.max(1, total)}%` }}></span>`,
          )}
      </div>
      <ul class="legend">${parts.map(
        (part) => html`
        <li><span class=${`dot ${part.tone}`} aria-hidden="true">
          </span> ${part.name} <strong>${part.value}</strong></li>`,
      )}</ul>
    </div>`;
}

export const Stat = ({ name, children }) =>
  html`<div class="stat"><dt>${name}</dt><dd>${children}</dd></div>`;

export { duration };
