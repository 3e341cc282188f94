// Sign-in: a key is traded for a cookie that no script can read. The key itself is not kept.

import { api, ApiError, html, session, useState } from '../core.js';
import { Button, Card, Input, Page, Problem } from '../ui.js';

export default function SignIn() {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      session.set((await api('/admin/sign-in', { method: 'POST', body: { key: key.trim() } })).data);
    } catch (problem) {
      const expired = problem.message.match(/API key expired at.*/)?.[0];
      const wrong = expired ? `The ${expired}.` : 'This key is not valid: it is misspelt or revoked.';
      // Without its status: the help for a 401 is to sign in, which this is.
      setError(problem.status === 401 ? new ApiError(wrong, { ...problem, status: null }) : problem);
      setBusy(false);
    }
  };
  return html`
    <${Page} title="Sign in to Gannet" lead="With an API key of this server. The sign-in lasts 12 hours.">
      <${Card}>
        <form onSubmit=${submit} class="stack">
          <${Input} label="API key" type="password" autocomplete="current-password" name="key"
            placeholder="gn-…" required
            value=${key} onInput=${setKey} autofocus />
          <${Problem} error=${error} />
          <${Button} kind="primary" type="submit" busy=${busy} disabled=${!key.trim()}>Sign in</${Button}>
        </form>
      </${Card}>
      <${Card} title="Where is my key?">
        <ul class="plain stack small">
          <li>The first one is in the data directory of the server: <code>cat gannet-data/first-key</code>
            </li>
          <li>A new one: <code>gannet keys create NAME</code></li>
          <li>On the same machine, the start of the server prints a link that signs in without a key.</li>
        </ul>
      </${Card}>
    </${Page}>`;
}
