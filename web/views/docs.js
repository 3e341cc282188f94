// API reference: every endpoint with its fields and errors, from the OpenAPI document, each a step from the
// playground.

import { api, html, href, useLoad, useMemo, useState } from '../core.js';
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

function Operation({ document, method, path, operation, fits }) {
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
        ${
          fits.length > 0 &&
          html`<span class="muted small break fits">fields:
            ${' '}${fits.slice(0, MAX_SHOWN_FIELDS).join(', ')}${
              fits.length > MAX_SHOWN_FIELDS && ` and ${fits.length - MAX_SHOWN_FIELDS} more`
            }</span>`
        }
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

/// How deep fields of fields are looked through, and how many there may be in all.
const MAX_DEPTH = 4;
const MAX_FIELDS = 600;

/// The words that a field allows: an enumeration, or a pattern that is one.
const choicesOf = (schema) =>
  schema.enum ?? /^\^\(([\w|.-]+)\)\$$/.exec(schema.pattern ?? '')?.[1].split('|') ?? [];

/// Every field of a request with its path and all that can be looked for in it: `[path, text]`.
function searchable(document, operation) {
  const found = [];
  const walk = (schema, path, depth, seen) => {
    if (found.length >= MAX_FIELDS || depth > MAX_DEPTH) return;
    const resolved = resolve(document, schema);
    if (seen.includes(resolved.properties ?? resolved)) return;
    const next = [...seen, resolved.properties ?? resolved];
    if (resolved.items) walk(resolved.items, path, depth, next);
    for (const one of [...(resolved.oneOf ?? []), ...(resolved.anyOf ?? [])])
      walk(one, path, depth + 1, next);
    for (const [name, field] of fieldsOf(document, resolved)) {
      const at = path ? `${path}.${name}` : name;
      found.push([at, [name, field.description ?? '', ...choicesOf(field)].join(' ').toLowerCase()]);
      walk(field, at, depth + 1, next);
    }
  };
  for (const one of operation.parameters ?? [])
    found.push([
      one.name,
      `${one.name} ${one.description ?? ''} ${choicesOf(one.schema ?? {}).join(' ')}`.toLowerCase(),
    ]);
  const body = operation.requestBody?.content?.['application/json']?.schema;
  if (body) walk(body, '', 0, []);
  return found;
}

/// Every endpoint with what can be looked for in it. Built once for a document.
function indexOf(document) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method,
      operation,
      name: `${method} ${path} ${operation.summary ?? ''}`.toLowerCase(),
      about: (operation.description ?? '').toLowerCase(),
      fields: searchable(document, operation),
    })),
  );
}

/// The endpoints that have all words, in their name or in one of their fields, each with the fields that do. Those whose
/// name fits come first.
function findOperations(all, text) {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all.map((one) => ({ ...one, fits: [] }));
  const found = [];
  for (const one of all) {
    const byName = words.every((word) => one.name.includes(word));
    const fits = byName ? [] : one.fields.filter(([, field]) => words.some((word) => field.includes(word)));
    const all = `${one.name} ${one.about} ${fits.map(([, field]) => field).join(' ')}`;
    if (byName || words.every((word) => all.includes(word)))
      found.push({ ...one, byName, fits: fits.map(([path]) => path) });
  }
  return found.sort((a, b) => Number(b.byName) - Number(a.byName));
}

const MAX_SHOWN_FIELDS = 6;

export default function Docs() {
  const loaded = useLoad((signal) => api('/v2/openapi.json', { signal }));
  const index = useMemo(() => (loaded.data ? indexOf(loaded.data) : []), [loaded.data]);
  const [text, setText] = useState('');
  const lead = html`Every endpoint. Programs read it as <a href="/v2/openapi.json">OpenAPI</a>; there is also
    a <a href="/docs">plain page</a> with all errors.`;
  return html`
    <${Page} title="API reference" lead=${lead}>
      <${Card}><${Input} label="Find an endpoint" type="search" value=${text} onInput=${setText}
        hint="By its name, its fields, or what they may be: screenshot, maxAge, webhook." /></${Card}>
      <${Loaded} from=${loaded} what="Loading the description of the API">
        ${(document) => {
          const shown = findOperations(index, text);
          const tags = [...new Set(shown.map((one) => one.operation.tags?.[0] ?? 'Other'))];
          if (shown.length === 0)
            return html`<${Card}><${Empty} title="No endpoint fits"><p>Every word has to be in the name of an
              endpoint or in one of its fields.</p></${Empty}></${Card}>`;
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
