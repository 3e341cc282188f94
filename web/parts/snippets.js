// The same call for every way to make it.

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const python = (value) =>
  JSON.stringify(value, null, 4).replace(
    /("(?:[^"\\]|\\.)*")|\btrue\b|\bfalse\b|\bnull\b/g,
    (word, quoted) => quoted ?? { true: 'True', false: 'False', null: 'None' }[word],
  );

/// Commands that take the target first. Options have the names of the API with dashes.
const COMMANDS = {
  '/v2/scrape': ['scrape', 'url'],
  '/v2/map': ['map', 'url'],
  '/v2/crawl': ['crawl', 'url'],
  '/v2/search': ['search', 'query'],
  '/v2/agent': ['agent', 'prompt'],
};

function commandLine(path, body) {
  const known = COMMANDS[path];
  if (!known) return '# there is no command for this call; use curl';
  const [name, target] = known;
  const words = ['gannet', name, shell(String(body?.[target] ?? ''))];
  if (name === 'agent') for (const url of body?.urls ?? []) words.push('--url', shell(url));
  if (['crawl', 'search', 'map'].includes(name) && body?.limit !== undefined)
    words.push('--limit', body.limit);
  return `${words.join(' ')}\n# other options: gannet ${name} --help`;
}

const JSON_TYPE = ', "Content-Type": "application/json"';

export function snippets({ base, method, path, query, body }) {
  const url = `${base}${path}${query ? `?${query}` : ''}`;
  const json = body === undefined ? null : JSON.stringify(body, null, 2);
  const curl = [
    `curl -s ${method === 'GET' ? '' : `-X ${method} `}${shell(url)} -H "Authorization: Bearer $GANNET_KEY"`,
  ];
  if (json) curl.push('-H "Content-Type: application/json"', `-d ${shell(json)}`);
  const py = [
    `import os, requests\n`,
    `answer = requests.request(\n    ${JSON.stringify(method)}, ${JSON.stringify(url)},`,
    '    headers={"Authorization": f"Bearer {os.environ[\'GANNET_KEY\']}"},',
  ];
  if (json) py.push(`    json=${python(body).replaceAll('\n', '\n    ')},`);
  const js = [
    `const answer = await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    `  headers: { Authorization: \`Bearer \${process.env.GANNET_KEY}\`${json ? JSON_TYPE : ''} },`,
  ];
  if (json) js.push(`  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),`);
  return {
    curl: curl.join(' \\\n  '),
    python: [...py, ')', 'print(answer.json())'].join('\n'),
    js: [...js, '});', 'console.log(await answer.json());'].join('\n'),
    cli: commandLine(path, body),
  };
}
