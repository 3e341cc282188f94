// The same call for every way to make it: by the clients where they have a method for it, by plain HTTP otherwise.

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const python = (value) =>
  JSON.stringify(value, null, 4).replace(
    /("(?:[^"\\]|\\.)*")|\btrue\b|\bfalse\b|\bnull\b/g,
    (word, quoted) => quoted ?? { true: 'True', false: 'False', null: 'None' }[word],
  );
const snake = (name) => name.replace(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`);
const indent = (text, spaces) => text.replaceAll('\n', `\n${' '.repeat(spaces)}`);

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

const PAGE = `
  formats headers includeTags excludeTags onlyMainContent timeout waitFor mobile parsers actions
  location proxy skipTlsVerification fastMode blockAds maxAge storeInCache lockdown profile
  auditMetadata`;
const CRAWL = `
  prompt excludePaths includePaths maxDiscoveryDepth sitemap ignoreQueryParameters limit
  crawlEntireDomain allowExternalLinks allowSubdomains ignoreRobotsTxt delay maxConcurrency webhook
  scrapeOptions zeroDataRetention`;
const SEARCH = `
  sources categories includeDomains excludeDomains limit tbs location country timeout highlights
  scrapeOptions`;

/// Methods of the clients: their names in Python and JavaScript, what they take first, and the other options that both
/// know.
const METHODS = {
  '/v2/scrape': ['scrape', 'scrape', 'url', PAGE],
  '/v2/crawl': ['start_crawl', 'startCrawl', 'url', CRAWL],
  '/v2/map': [
    'map',
    'map',
    'url',
    'search sitemap includeSubdomains ignoreQueryParameters limit timeout location auditMetadata',
  ],
  '/v2/search': ['search', 'search', 'query', SEARCH],
  '/v2/batch/scrape': ['start_batch_scrape', 'startBatchScrape', 'urls', `${PAGE} webhook maxConcurrency`],
  '/v2/agent': [
    'start_agent',
    'startAgent',
    null,
    'urls prompt schema maxCredits strictConstrainToURLs effort webhook threadId mode location',
  ],
};
const JOB_OPTIONS = ['webhook', 'maxConcurrency'];

/// The method of the clients for a call; none where it takes an option that they do not know.
function clientMethod(method, path, body) {
  const found = method === 'POST' && body && METHODS[path];
  if (!found) return null;
  const [inPython, inJs, first, known] = found;
  if (first && body[first] === undefined) return null;
  const options = Object.entries(body).filter(([name]) => name !== first);
  if (!options.every(([name]) => known.split(/\s+/).includes(name))) return null;
  return { inPython, inJs, first: first && body[first], options: Object.fromEntries(options) };
}

function pythonClient(base, { inPython, first, options }) {
  const value = (name, one) =>
    python(
      name === 'scrapeOptions'
        ? Object.fromEntries(Object.entries(one).map(([key, of]) => [snake(key), of]))
        : one,
    );
  const given = [
    ...(first === null ? [] : [python(first)]),
    ...Object.entries(options).map(([name, one]) => `${snake(name)}=${value(name, one)}`),
  ];
  return [
    '# pip install firecrawl-py',
    'import os',
    'from firecrawl import Firecrawl',
    '',
    `app = Firecrawl(api_key=os.environ["GANNET_API_KEY"], api_url=${python(base)})`,
    `print(app.${inPython}(${given.length > 1 ? `\n    ${given.map((one) => indent(one, 4)).join(',\n    ')},\n` : given.join('')}))`,
  ].join('\n');
}

function jsClient(base, path, { inJs, first, options }) {
  // A batch takes the options of its pages apart from its own.
  const isJob = ([name]) => JOB_OPTIONS.includes(name);
  const all = Object.entries(options);
  const pages = Object.fromEntries(all.filter((one) => !isJob(one)));
  const asked =
    path === '/v2/batch/scrape'
      ? {
          ...(Object.keys(pages).length > 0 ? { options: pages } : {}),
          ...Object.fromEntries(all.filter(isJob)),
        }
      : options;
  const given = [
    ...(first === null ? [] : [JSON.stringify(first)]),
    ...(Object.keys(asked).length > 0 ? [JSON.stringify(asked, null, 2)] : []),
  ];
  return [
    '// npm install @mendable/firecrawl-js',
    'import Firecrawl from "@mendable/firecrawl-js";',
    '',
    `const app = new Firecrawl({ apiKey: process.env.GANNET_API_KEY, apiUrl: ${JSON.stringify(base)} });`,
    `console.log(await app.${inJs}(${given.join(', ')}));`,
  ].join('\n');
}

const JSON_TYPE = ', "Content-Type": "application/json"';

function pythonHttp(method, url, body) {
  const lines = [
    'import os, requests\n',
    `answer = requests.request(\n    ${JSON.stringify(method)}, ${JSON.stringify(url)},`,
    '    headers={"Authorization": f"Bearer {os.environ[\'GANNET_API_KEY\']}"},',
  ];
  if (body !== undefined) lines.push(`    json=${indent(python(body), 4)},`);
  return [...lines, ')', 'print(answer.json())'].join('\n');
}

function jsHttp(method, url, json) {
  const lines = [
    `const answer = await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    `  headers: { Authorization: \`Bearer \${process.env.GANNET_API_KEY}\`${json ? JSON_TYPE : ''} },`,
  ];
  if (json) lines.push(`  body: JSON.stringify(${indent(json, 2)}),`);
  return [...lines, '});', 'console.log(await answer.json());'].join('\n');
}

export function snippets({ base, method, path, query, body }) {
  const url = `${base}${path}${query ? `?${query}` : ''}`;
  const json = body === undefined ? null : JSON.stringify(body, null, 2);
  const curl = [
    `curl -s ${method === 'GET' ? '' : `-X ${method} `}${shell(url)} -H "Authorization: Bearer $GANNET_API_KEY"`,
  ];
  if (json) curl.push('-H "Content-Type: application/json"', `-d ${shell(json)}`);
  const client = clientMethod(method, path, body);
  return {
    curl: curl.join(' \\\n  '),
    python: client ? pythonClient(base, client) : pythonHttp(method, url, body),
    js: client ? jsClient(base, path, client) : jsHttp(method, url, json),
    cli: commandLine(path, body),
  };
}
