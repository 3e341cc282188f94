// The frame around the views: who is signed in, the menu, which view is shown. Views are loaded when they are
// opened.

import {
  api,
  go,
  href,
  html,
  may,
  online,
  render,
  route,
  session,
  shared,
  toast,
  toasts,
  useEffect,
  useErrorBoundary,
  useMemo,
  useRef,
  useState,
} from './core.js';
import { Button, Icon, Loading, Page, Problem } from './ui.js';

/// Every view: file, name in the menu, icon, and the scope it needs.
const VIEWS = [
  ['home', 'Home', 'home'],
  ['playground', 'Playground', 'play'],
  ['activity', 'Activity', 'activity'],
  ['crawls', 'Crawls', 'crawl', 'crawl'],
  ['agents', 'Agent runs', 'agent', 'agent'],
  ['search', 'Search', 'search', 'search'],
  ['papers', 'Papers', 'papers', 'research'],
  ['sessions', 'Sessions', 'sessions', 'interact'],
  ['monitors', 'Monitors', 'monitors', 'monitor'],
  ['parse', 'Parse', 'parse', 'parse'],
  ['keys', 'Keys and usage', 'keys'],
  ['webhooks', 'Webhooks', 'webhooks', 'crawl'],
  ['audit', 'Audit log', 'audit', 'admin'],
  ['settings', 'Settings', 'settings', 'admin'],
  ['docs', 'API reference', 'docs'],
];

/// Each view that was asked for: a promise of its component, which holds the component once it is there.
const loaded = new Map();

/// Loads the file of a view, once. One that could not be read is asked for again the next time.
function loadView(name) {
  const known = ['authorize', 'signin'].includes(name) || VIEWS.some(([key]) => key === name);
  if (!known) return Object.assign(Promise.resolve(), { missing: true });
  if (!loaded.has(name)) {
    const file = import(`./views/${name}.js`).then((module) => {
      file.component = module.default;
    });
    file.catch(() => loaded.delete(name));
    loaded.set(name, file);
  }
  return loaded.get(name);
}

function useView(name) {
  const file = useMemo(() => loadView(name), [name]);
  const [state, setState] = useState({});
  useEffect(() => {
    let current = true;
    file.then(
      () => current && setState({ file }),
      (error) => current && setState({ file, error }),
    );
    return () => {
      current = false;
    };
  }, [file]);
  const { missing, component } = file;
  return { missing, component, error: state.file === file ? state.error : undefined };
}

function View({ name, args, query }) {
  const view = useView(name);
  if (view.missing) {
    return html`<${Page} title="Not here" lead="There is no such view.">
      <p><a href=${href('home')}>Go to Home</a></p></${Page}>`;
  }
  if (view.error) return html`<${Problem} error=${view.error} retry=${() => location.reload()} />`;
  if (!view.component) return html`<${Loading} />`;
  return html`<${Drawn} key=${[name, ...args].join('/')} view=${view.component} args=${args}
    query=${query} />`;
}

/// A view, or what went wrong while it was drawn.
function Drawn({ view, args, query }) {
  const [error] = useErrorBoundary((problem) => console.error(problem));
  if (error) {
    return html`<${Page} title="This view failed"><${Problem} error=${error}
      retry=${() => location.reload()} /></${Page}>`;
  }
  return html`<${view} args=${args} query=${query} />`;
}

function Menu({ current, onOpen }) {
  const shown = VIEWS.filter(([, , , scope]) => !scope || may(scope));
  return html`
    <nav class="menu" aria-label="Views">
      <ul>${shown.map(
        ([name, title, icon]) => html`
        <li key=${name}><a href=${href(name)} aria-current=${name === current ? 'page' : undefined}
          onClick=${onOpen}>
          <${Icon} name=${icon} /> ${title}</a></li>`,
      )}
      </ul>
    </nav>`;
}

async function signOut() {
  await api('/admin/sign-in', { method: 'DELETE' }).catch((error) => toast(error.message, 'bad'));
  session.set(null);
}

const Brand = () => html`
  <a class="brand" href=${href('home')}>
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"
      class="brand-box" />
      <path d="M5 19c7 1 10-2 13-9 1 4 4 6 9 6-5 1-8 4-9 9-3-4-7-6-13-6z" class="brand-bird" /></svg>
    Gannet</a>`;

const toContent = () => document.getElementById('main').focus({ preventScroll: true });

/// `arrived`: somebody has just signed in, and the field that they were in is gone.
function Shell({ who, arrived }) {
  const at = route.use();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    // The link that was followed goes with the menu.
    if (open) toContent();
    setOpen(false);
    scrollTo(0, 0);
  }, [at.view, at.args.join('/')]);
  useEffect(() => arrived && toContent(), []);
  useEffect(() => {
    const close = (event) => event.key === 'Escape' && setOpen(false);
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, []);
  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      toContent();
    }}>
      Skip to the content</a>
    <div class=${`shell ${open ? 'open' : ''}`}>
      <div class="side">
        <div class="side-top"><${Brand} />
          <button type="button" class="icon-button menu-button" aria-expanded=${open} aria-label="Menu"
            onClick=${() => setOpen(!open)}><${Icon} name=${open ? 'close' : 'menu'} size="22" /></button>
              </div>
        <div class="side-body">
          <${Menu} current=${at.view} onOpen=${() => setOpen(false)} />
          <div class="who">
            <p><strong>${who.team}</strong><br />
              <span class="muted">plan ${who.plan} · v${who.version}</span></p>
            ${who.auth && html`<${Button} kind="small" onClick=${signOut}>Sign out</${Button}>`}
          </div>
        </div>
      </div>
      <main id="main" tabindex="-1"><${View} name=${at.view} args=${at.args} query=${at.query} /></main>
    </div>`;
}

function Notices() {
  const connected = online.use();
  const messages = toasts.use();
  return html`
    ${
      !connected &&
      html`<div class="offline" role="status"><span class="spin" aria-hidden="true"></span>
      The server does not answer. This page goes on by itself when it is back.</div>`
    }
    <div class="toasts" role="status" aria-live="polite">
      ${messages.map((one) => html`<p class=${`toast ${one.kind}`}>${one.text}</p>`)}</div>`;
}

function App() {
  const who = session.use();
  const error = failure.use();
  const signedOut = useRef(false);
  const [broken] = useErrorBoundary((problem) => console.error(problem));
  if (who === null) signedOut.current = true;
  if (error || broken)
    return html`<${Notices} /><main class="alone"><${Problem} error=${error ?? broken}
      retry=${() => location.reload()} /></main>`;
  if (who === undefined) return html`<${Notices} /><${Loading} />`;
  return html`<${Notices} />${who ? html`<${Shell} who=${who} arrived=${signedOut.current} />` : html`<main class="alone"><${Brand} />
    <${View} name="signin" args=${[]} query=${{}} /></main>`}`;
}

/// Why it could not be found out who is signed in.
const failure = shared(null);

/// Trades a link that works once, if that is how the page was opened, and finds out who is signed in.
async function start() {
  const link = new URLSearchParams(location.search).get('open');
  if (link) {
    history.replaceState(null, '', `/${location.hash}`);
    try {
      session.set((await api('/admin/sign-in', { method: 'POST', body: { link } })).data);
      return;
    } catch (error) {
      if (error.status !== 401) throw error;
      toast('This link was used already or is too old. Sign in with a key.', 'bad');
    }
  }
  try {
    session.set((await api('/admin/sign-in')).data);
  } catch (error) {
    if (error.status !== 401) throw error;
    session.set(null);
  }
}

if (location.hash === '') go('home', [], {}, { replace: true });
// Both are asked for before anything is drawn: neither waits for the other, nor for a frame.
start().catch(failure.set);
loadView(route.get().view);
const root = document.getElementById('app');
root.replaceChildren();
render(html`<${App} />`, root);
