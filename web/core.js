// What every view stands on: drawing, shared state, calls of the API, addresses, and how values are written.
// Nothing here knows a view.

import { h, render } from './vendor/preact.js';
import { useCallback, useEffect, useErrorBoundary, useMemo, useRef, useState } from './vendor/hooks.js';
import htm from './vendor/htm.js';

export const html = htm.bind(h);
export { render, useCallback, useEffect, useErrorBoundary, useMemo, useRef, useState };

// --- shared state ---

/// A value that components follow: `shared.use()` in a component draws it again when the value changes.
export function shared(value) {
  const followers = new Set();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const follow of [...followers]) follow(next);
    },
    use() {
      const [, draw] = useState(value);
      useEffect(() => {
        followers.add(draw);
        draw(value);
        return () => followers.delete(draw);
      }, []);
      return value;
    },
  };
}

/// Who is signed in: undefined while that is not known, null for nobody.
export const session = shared(undefined);
/// Whether the server answers.
export const online = shared(true);
/// Counts how often the server came back, so that views load again.
export const returns = shared(0);
/// Short messages at the edge of the window.
export const toasts = shared([]);

export function toast(text, kind = 'ok') {
  const entry = { text, kind };
  toasts.set([...toasts.get(), entry].slice(-4));
  setTimeout(() => toasts.set(toasts.get().filter((one) => one !== entry)), kind === 'bad' ? 8000 : 4000);
}

export const may = (scope) => Boolean(session.get()?.scopes?.includes(scope));

// --- calls ---

export class ApiError extends Error {
  constructor(message, { status = 0, code = null, requestId = null, details = null } = {}) {
    super(message);
    Object.assign(this, { status, code, requestId, details });
  }
}

let watching = false;

/// An answer that views wait for is given up after so many milliseconds.
const MAX_WAIT = 30_000;

/// Asks until the server answers again, then lets every view load anew.
async function watchForReturn() {
  if (watching) return;
  watching = true;
  online.set(false);
  for (let pause = 500; ; pause = Math.min(pause * 1.5, 5000)) {
    await new Promise((resume) => setTimeout(resume, pause));
    const answer = await fetch('/health', { cache: 'no-store' }).catch(() => null);
    if (answer?.ok) break;
  }
  watching = false;
  online.set(true);
  returns.set(returns.get() + 1);
}

/// Sends a request as the browser's sign-in allows. The answer as it came. What is only read is given up after a
/// while; what begins work takes as long as it takes.
export async function send(path, { method = 'GET', body, headers = {}, signal, timeout } = {}) {
  const plain =
    body === undefined || body instanceof FormData || body instanceof Blob || typeof body === 'string';
  const limit = timeout ?? (method === 'GET' ? MAX_WAIT : 0);
  const stop = new AbortController();
  const abort = () => stop.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  let late = false;
  const timer = limit
    ? setTimeout(() => {
        late = true;
        abort();
      }, limit)
    : 0;
  try {
    return await fetch(path, {
      method,
      signal: stop.signal,
      cache: 'no-store',
      credentials: 'same-origin',
      headers: plain ? headers : { 'content-type': 'application/json', ...headers },
      body: plain ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (late) throw new ApiError(`The server did not answer within ${limit / 1000} seconds.`);
    if (error.name === 'AbortError') throw error;
    watchForReturn();
    throw new ApiError('The server does not answer. This page goes on by itself when it is back.');
  } finally {
    clearTimeout(timer);
  }
}

/// The same, with the JSON of the answer; throws an `ApiError` where it is an error.
export async function api(path, options) {
  const answer = await send(path, options);
  return readAnswer(answer);
}

export async function readAnswer(answer) {
  const text = await answer.text();
  let json = null;
  try {
    json = text === '' ? {} : JSON.parse(text);
  } catch {
    // An error of something in between, such as a proxy: its text is the message.
  }
  if (answer.ok && json !== null && typeof json === 'object') return json;
  if (answer.status === 401 && session.get()) session.set(null);
  // A page of HTML is an error of something in between, and nothing to read.
  const words = text.trim().startsWith('<') ? '' : text.slice(0, 300);
  const fallback =
    words || answer.statusText || `The server answered with status ${answer.status} and no reason.`;
  const message =
    json?.error ?? json?.detail ?? (answer.ok ? 'The answer of the server cannot be read.' : fallback);
  throw new ApiError(typeof message === 'string' ? message : JSON.stringify(message), {
    status: answer.status,
    code: json?.code ?? null,
    requestId: answer.headers.get('x-request-id'),
    details: json?.details ?? null,
  });
}

/// How often a page that nobody sees looks whether it is seen again.
const TICK = 1000;

/// Loads something for a component: `{ data, error, loading, reload }`. Loads again when `keys` change, when the
/// server comes back, and every `every` milliseconds while the page is visible; `every` may be told by the data.
export function useLoad(load, keys = [], { every = 0 } = {}) {
  const [state, setState] = useState({ data: null, error: null, loading: true });
  const [again, setAgain] = useState(0);
  const back = returns.use();
  const last = useRef(null);
  useEffect(() => {
    const stop = new AbortController();
    let timer = null;
    const changed = JSON.stringify(keys) !== last.current;
    last.current = JSON.stringify(keys);
    setState((old) => ({
      data: changed ? null : old.data,
      error: changed ? null : old.error,
      loading: true,
    }));
    const run = async () => {
      let pause = typeof every === 'function' ? 0 : every;
      try {
        const data = await load(stop.signal);
        if (typeof every === 'function') pause = every(data);
        if (!stop.signal.aborted) setState({ data, error: null, loading: false });
      } catch (error) {
        if (!stop.signal.aborted) setState((old) => ({ data: old.data, error, loading: false }));
      }
      if (pause > 0 && !stop.signal.aborted) timer = setTimeout(tick, pause);
    };
    const tick = () => (document.hidden || !online.get() ? (timer = setTimeout(tick, TICK)) : run());
    run();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [...keys, again, back]);
  const reload = useCallback(() => setAgain((count) => count + 1), []);
  return { ...state, reload };
}

/// The report of the server: what the last checks of its parts found. Asked for again while new ones run.
export const loadReport = (signal) => api('/admin/report', { signal }).then((answer) => answer.data);
export const askAgain = (report) => (report.checking ? 700 : 0);

// --- addresses: `#/view/argument?name=value` ---

export function parseRoute(hash = location.hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view = '', ...rest] = path.split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { view: view || 'home', args: rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

export const route = shared(parseRoute());
addEventListener('hashchange', () => route.set(parseRoute()));

export function href(view, args = [], query = {}) {
  const kept = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const path = [view, ...args].map((part) => encodeURIComponent(part)).join('/');
  const text = new URLSearchParams(kept).toString();
  return `#/${path}${text ? `?${text}` : ''}`;
}

export function go(view, args, query, { replace = false } = {}) {
  const to = href(view, args, query);
  if (!replace) {
    location.hash = to;
    return;
  }
  history.replaceState(null, '', to);
  route.set(parseRoute());
}

/// The chosen one of a view's tabs, kept in its address: a link to it opens at the same one.
export function useTab(names) {
  const at = route.use();
  const chosen = names.includes(at.query.tab) ? at.query.tab : names[0];
  const choose = (tab) =>
    go(at.view, at.args, { ...at.query, tab: tab === names[0] ? undefined : tab }, { replace: true });
  return [chosen, choose];
}

// --- requests in the activity ---

export const ENDPOINTS = {
  scrape: 'Scrape',
  crawl: 'Crawl',
  batch_scrape: 'Batch',
  map: 'Map',
  search: 'Search',
  agent: 'Agent',
  extract: 'Extract',
  crawl_params_preview: 'Crawl preview',
  'search/developer': 'Developer search',
  'search/gov': 'Government search',
  parse: 'Parse',
  monitor: 'Monitor',
  browser: 'Session',
};

export const endpointOf = (entry) => ENDPOINTS[entry.endpoint] ?? entry.endpoint;

/// Where an entry leads: to the view of its job, or to a form filled in with its target.
export function openActivity(entry) {
  const target = entry.target ?? undefined;
  switch (entry.endpoint) {
    case 'crawl':
      return href('crawls', ['crawl', entry.id]);
    case 'batch_scrape':
      return href('crawls', ['batch', entry.id]);
    case 'agent':
      return href('agents', [entry.id]);
    case 'search':
      return href('search', [], { q: target });
    case 'scrape':
      return href('playground', ['scrape'], { url: target, id: entry.id });
    case 'parse':
      return href('parse');
    case 'extract':
      return href('playground', ['get /v2/extract/{id}'], {
        call: encodeCall({ parameters: { id: entry.id } }),
      });
    case 'crawl_params_preview':
      return href('playground', ['post /v2/crawl/params-preview'], { url: target });
    case 'search/developer':
    case 'search/gov':
      return href('playground', [`post /v2/${entry.endpoint}`], { q: target });
    case 'map':
      return href('playground', ['map'], { url: target });
    case 'browser':
      return href('sessions');
    case 'monitor':
      return href('monitors');
    default:
      return href('playground', [entry.endpoint]);
  }
}

/// A call as an address of the playground keeps it.
export function encodeCall(call) {
  const bytes = new TextEncoder().encode(JSON.stringify(call));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/// Only addresses of web pages become links: `javascript:` and the like from scraped pages stay text.
export function webUrl(text) {
  if (typeof text !== 'string' || !/^https?:\/\//i.test(text.trim())) return null;
  try {
    return new URL(text.trim()).href;
  } catch {
    return null;
  }
}

/// A link to this server without its host: the page may be reached under another name than the API says.
export function ownPath(url) {
  try {
    const parsed = new URL(url, location.href);
    return /^https?:$/.test(parsed.protocol) ? parsed.pathname + parsed.search : null;
  } catch {
    return null;
  }
}

// --- how values are written ---

const number = new Intl.NumberFormat();
export const count = (value) => (Number.isFinite(value) ? number.format(value) : '–');
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

export function bytes(value) {
  if (!Number.isFinite(value)) return '–';
  const units = ['B', 'KB', 'MB', 'GB'];
  let unit = 0;
  while (value >= 1000 && unit < 3) {
    value /= 1000;
    unit += 1;
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const dayMonth = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
export const fullTime = (iso) => (iso ? day.format(new Date(iso)) : '–');

/// "3 min ago", "14:05", "12 Nov, 14:05": in the reader's own time zone.
export function shortTime(iso, now = Date.now()) {
  const at = new Date(iso);
  if (!iso || Number.isNaN(at.getTime())) return '–';
  const ago = (now - at) / 1000;
  if (Math.abs(ago) < 10) return 'now';
  const words = (value, unit) => (ago > 0 ? `${value} ${unit} ago` : `in ${value} ${unit}`);
  const size = Math.abs(ago);
  if (size < 60) return words(Math.round(size), 's');
  if (size < 3600) return words(Math.round(size / 60), 'min');
  if (at.toDateString() === new Date(now).toDateString()) return clock.format(at);
  return dayMonth.format(at);
}

export const host = (url) => {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
};

export async function copy(text, what = 'Copied') {
  try {
    await navigator.clipboard.writeText(text);
    toast(what);
  } catch {
    toast('The browser does not allow copying here; select the text instead.', 'bad');
  }
}

/// Hands a file to the reader.
export function save(name, parts, type = 'application/octet-stream') {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
