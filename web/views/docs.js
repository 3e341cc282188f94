// API reference: every endpoint with its fields and errors, from the OpenAPI document, each a step from the
// playground.

import { api, html, href, useLoad, useState } from '../core.js';
import { Badge, Card, Empty, Input, Loaded, Page } from '../ui.js';
import { fieldsOf, resolve } from '../parts/form.js';
import { inline } from '../parts/markdown.js';

const METHODS = { get: 'running', post: 'completed', put: 'changed', patch: 'changed', delete: 'failed' };

const typeOf = (schema) =>
  [schema.type]
    .flat()
    .filter((one) => one && one !== 'null')
    .join(' or ') || (schema.oneOf ? 'one of several' : '');

function Fields({ title, fields }) {
  if (fields.length === 0) return null;
  return html`
    <h3 class="gap-top">${title}</h3>
    <div class="scroll" tabindex="0">
      <table>
        <tbody>
          ${fields.map(
            ([name, schema]) => html`
              <tr key=${name}>
                <th scope="row"><code>${name}</code></th>
                <td class="small muted nowrap">${typeOf(schema)}</td>
                <td class="small break">
                  ${inline(schema.description ?? '')}
                  ${
                    schema.default !== undefined &&
                    schema.default !== null &&
                    html` Default: <code>${JSON.stringify(schema.default)}</code>.`
                  }
                </td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function Operation({ document, method, path, operation }) {
  const [open, setOpen] = useState(false);
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const parameters = (operation.parameters ?? []).map((one) => [
    one.name,
    { ...resolve(document, one.schema), description: one.description },
  ]);
  const errors = Object.entries(operation.responses ?? {}).filter(([status]) => status >= '400');
  return html`
    <details class="doc" onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="operation">
          <${Badge} status=${METHODS[method]}>${method.toUpperCase()}</${Badge}>
          <code>${path}</code> <span class="muted">${operation.summary}</span>
        </span>
      </summary>
      ${
        open &&
        html`
        ${operation.description && html`<p class="gap-bottom">${inline(operation.description)}</p>`}
        <p><a class="button small" href=${href('playground', [`${method} ${path}`])}>Try it</a></p>
        <${Fields} title="Parameters" fields=${parameters} />
        <${Fields} title="Body" fields=${body ? fieldsOf(document, body) : []} />
        <h3 class="gap-top">Errors</h3>
        <ul class="errors small">
          ${errors.map(
            ([status, one]) => html`
              <li key=${status}>
                <strong>${status}</strong>
                <ul>
                  ${(one.description ?? '')
                    .split(/; (?=`)/)
                    .map((text) => html`<li class="break">${inline(text)}</li>`)}
                </ul>
              </li>
            `,
          )}
        </ul>
      `
      }
    </details>
  `;
}

export default function Docs() {
  const loaded = useLoad((signal) => api('/v2/openapi.json', { signal }));
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const lead = html`Every endpoint. Programs read it as <a href="/v2/openapi.json">OpenAPI</a>; there is also
    a <a href="/docs">plain page</a> with all errors.`;
  return html`
    <${Page} title="API reference" lead=${lead}>
      <${Card}><${Input} label="Find an endpoint" type="search" value=${text} onInput=${setText} /></${Card}>
      <${Loaded} from=${loaded} what="Loading the description of the API">
        ${(document) => {
          const all = Object.entries(document.paths).flatMap(([path, item]) =>
            Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
          );
          const shown = all.filter((one) =>
            `${one.method} ${one.path} ${one.operation.summary}`.toLowerCase().includes(wanted),
          );
          const tags = [...new Set(shown.map((one) => one.operation.tags?.[0] ?? 'Other'))];
          if (shown.length === 0) return html`<${Card}><${Empty} title="No endpoint fits" /></${Card}>`;
          return tags.map(
            (tag) => html`
              <${Card} title=${tag} key=${tag}>
                ${shown
                  .filter((one) => (one.operation.tags?.[0] ?? 'Other') === tag)
                  .map(
                    (one) =>
                      html`<${Operation} key=${`${one.method} ${one.path}`} document=${document}
                        ...${one} />`,
                  )}
              </${Card}>
            `,
          );
        }}
      </${Loaded}>
    </${Page}>
  `;
}
