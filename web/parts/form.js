// A form from the schema of a request in the OpenAPI document. What a field cannot show as an input is edited as
// JSON.

import { html, useEffect, useState } from '../core.js';
import { Area, Check, Field, Input, Select } from '../ui.js';

export function resolve(document, schema) {
  let found = schema ?? {};
  for (let steps = 0; steps < 8; steps += 1) {
    if (found.$ref) found = { ...follow(document, found.$ref), ...without(found, '$ref') };
    else if (found.oneOf?.length === 2 && found.oneOf.some((one) => one.type === 'null'))
      found = { ...without(found, 'oneOf'), ...found.oneOf.find((one) => one.type !== 'null') };
    else break;
  }
  return found;
}

const without = (object, key) => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
const follow = (document, reference) =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce((at, part) => at?.[part], document) ?? {};

/// The fields of an object, those of `allOf` included.
export function fieldsOf(document, schema) {
  const found = resolve(document, schema);
  const inherited = (found.allOf ?? []).flatMap((part) => fieldsOf(document, part));
  return [
    ...inherited,
    ...Object.entries(found.properties ?? {}).map(([name, value]) => [name, resolve(document, value)]),
  ];
}

function kindOf(document, schema) {
  const type = [schema.type].flat().find((one) => one !== 'null');
  const choices = schema.enum ?? /^\^\(([\w|.-]+)\)\$$/.exec(schema.pattern ?? '')?.[1].split('|');
  if (choices) return { kind: 'choice', choices };
  if (type === 'boolean') return { kind: 'switch' };
  if (type === 'integer' || type === 'number') return { kind: 'number' };
  if (type === 'string') return { kind: 'text' };
  const items = type === 'array' ? resolve(document, schema.items) : null;
  if (items && [items.type].flat().includes('string')) return { kind: 'lines' };
  return { kind: 'json' };
}

/// `value` without what is empty: an absent field has the default of the server.
const put = (value, name, next) => (next === undefined ? without(value, name) : { ...value, [name]: next });

export function FormField({ document, name, schema, value, onChange, required }) {
  const { kind, choices } = kindOf(document, schema);
  const label = required ? `${name} *` : name;
  const hint = schema.description ? schema.description.replaceAll('`', '') : undefined;
  const standard =
    schema.default === undefined || schema.default === null
      ? ''
      : `default: ${JSON.stringify(schema.default)}`;
  if (kind === 'choice') {
    return html`<${Select} label=${label} hint=${hint} value=${value ?? ''}
      options=${[['', standard || 'not set'], ...choices]}
      onInput=${(text) => onChange(text === '' ? undefined : text)} />`;
  }
  if (kind === 'switch') {
    const options = [
      ['', standard || 'not set'],
      ['true', 'yes'],
      ['false', 'no'],
    ];
    return html`<${Select} label=${label} hint=${hint} value=${value === undefined ? '' : String(value)}
      options=${options}
      onInput=${(text) => onChange(text === '' ? undefined : text === 'true')} />`;
  }
  if (kind === 'number') {
    return html`<${Input} label=${label} hint=${hint} type="number" step="any" min=${schema.minimum}
      max=${schema.maximum}
      placeholder=${standard} value=${value ?? ''}
        onInput=${(text) => onChange(text === '' ? undefined : Number(text))} />`;
  }
  if (kind === 'lines') {
    return html`<${Area} label=${label} hint=${`${hint ?? ''} One per line.`} rows="2"
      value=${(Array.isArray(value) ? value : []).join('\n')}
      onInput=${(text) => onChange(text === '' ? undefined : text.split('\n'))} />`;
  }
  if (kind === 'json')
    return html`<${JsonField} label=${label} hint=${hint} value=${value} onChange=${onChange} />`;
  const long = ['prompt', 'code', 'goal', 'query'].includes(name);
  return html`<${long ? Area : Input} label=${label} hint=${hint} wide=${required || long}
    rows=${long ? 3 : undefined} placeholder=${standard}
    type=${long ? undefined : 'text'} inputmode=${name === 'url' ? 'url' : undefined}
    autocapitalize=${name === 'url' ? 'off' : undefined} value=${value ?? ''} required=${required}
    onInput=${(text) => onChange(text === '' ? undefined : text)} />`;
}

/// JSON as it is typed: what is not valid yet stays in the field and is not part of the request.
export function JsonField({ label, hint, value, onChange, rows = 3 }) {
  const written = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [text, setText] = useState(written);
  const [wrong, setWrong] = useState(null);
  useEffect(() => {
    try {
      if (JSON.stringify(JSON.parse(text || 'null')) !== JSON.stringify(value ?? null)) setText(written);
    } catch {
      // Half typed: it stays.
    }
  }, [written]);
  const type = (next) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setWrong(null);
    } catch (error) {
      setWrong(error.message);
    }
  };
  return html`<${Field} label=${label} hint=${wrong ? `Not valid JSON yet: ${wrong}` : hint} wide>${(
    ids,
  ) => html`
    <textarea ...${ids} rows=${rows} spellcheck="false" placeholder="JSON"
      aria-invalid=${wrong ? 'true' : undefined} value=${text}
      onInput=${(event) => type(event.currentTarget.value)}></textarea>`}</${Field}>`;
}

const FORMATS = ['markdown', 'links', 'screenshot', 'html', 'rawHtml', 'json', 'images', 'summary'];
const nameOf = (format) => (typeof format === 'string' ? format : format?.type);

/// Formats as chips; `json` opens its schema.
export function FormatField({ value = ['markdown'], onChange }) {
  const has = (name) => value.some((format) => nameOf(format) === name);
  const toggle = (name) => {
    const added =
      name === 'json'
        ? { type: 'json', schema: { type: 'object', properties: { title: { type: 'string' } } } }
        : name;
    const next = has(name) ? value.filter((format) => nameOf(format) !== name) : [...value, added];
    onChange(next.length === 1 && next[0] === 'markdown' ? undefined : next);
  };
  const json = value.find((format) => nameOf(format) === 'json');
  const edit = (name, next) =>
    onChange(
      value.map((format) =>
        format === json ? put(typeof json === 'string' ? { type: 'json' } : json, name, next) : format,
      ),
    );
  return html`
    <fieldset class="wide">
      <legend>formats</legend>
      <div class="chips">${[...FORMATS, ...value.map(nameOf).filter((name) => !FORMATS.includes(name))].map(
        (name) => html`
        <button type="button" class="chip" aria-pressed=${has(name)}
          onClick=${() => toggle(name)}>${name}</button>`,
      )}</div>
      ${
        json &&
        html`<div class="form gap-top">
        <${JsonField} label="JSON schema" hint="What the answer must look like." rows="7"
          value=${json.schema} onChange=${(next) => edit('schema', next)} />
        <${Input} label="Prompt" wide value=${json.prompt ?? ''}
          hint="What to extract, in words; with a language model."
          onInput=${(text) => edit('prompt', text || undefined)} /></div>`
      }
    </fieldset>`;
}

const FIRST = [
  'url',
  'urls',
  'query',
  'prompt',
  'formats',
  'limit',
  'schema',
  'intent',
  'name',
  'schedule',
  'targets',
  'search',
  'code',
  'language',
];
const QUIET = ['origin', 'integration', 'alexandria', 'useMock', 'exchange'];

/// All fields of a request: what most callers set first, the rest folded.
export function RequestForm({ document, schema, value, onChange, required = [] }) {
  const fields = fieldsOf(document, schema).filter(([name]) => !QUIET.includes(name));
  const order = [...required, ...FIRST.filter((name) => !required.includes(name))];
  const first = order.flatMap((name) => fields.filter(([other]) => other === name));
  const rest = fields.filter((field) => !first.includes(field));
  const set = rest.filter(([name]) => value[name] !== undefined).length;
  const draw = ([name, field]) =>
    name === 'formats'
      ? html`<${FormatField} key=${name} value=${value.formats}
        onChange=${(next) => onChange(put(value, name, next))} />`
      : html`<${FormField} key=${name} document=${document} name=${name} schema=${field}
        required=${required.includes(name)}
        value=${value[name]} onChange=${(next) => onChange(put(value, name, next))} />`;
  return html`
    <div class="form">${first.map(draw)}</div>
    ${
      rest.length > 0 &&
      html`<details class="gap-top">
        <summary>${rest.length} more options${set > 0 ? ` (${set} set)` : ''}</summary>
      <div class="form">${rest.map(draw)}</div></details>`
    }`;
}

export { Check };
