// No call's data holds the event loop: each attack runs through a gateway of its own process, which tells how long its loop was held.
import { randomUUID } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { COSTLY_SCHEMAS } from '../helpers/costly-schemas.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { callsInOneWrite, executeMessage } from '../helpers/calls-in-one-write.ts';
import { eventually } from '../helpers/eventually.ts';
import { leastHeldBy, LOOP_PROBE } from '../helpers/held-loop.ts';
import { FIXTURES, nodeServer } from '../helpers/mcp-kit.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { startMailServer, type MailServer } from '../helpers/mail-server.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

/** In CPU time of the loop's thread, so that a busy machine is no failure. */
const MOST_MS = 50;

const nested = (fn: string, inner: string, times: number) =>
  `${`${fn}(`.repeat(times)}${inner}${')'.repeat(times)}`;
const EXPRESSIONS = {
  reversals: nested('reverse', 'text', 94),
  lengths: `[${Array.from({ length: 16 }, () => 'length(text)').join(',')}]`,
  search: 'contains(hay, needle)',
  sorts: nested('sort', 'words', 15),
};
/** What a handler in a worker thread returns: as much as is passed on. */
const PASSED_ON = {
  'as many short texts as may be': 'Array.from({ length: 199_000 }, (_, at) => `s${at}`)',
  'as many fractions as may be': 'Array.from({ length: 199_000 }, (_, at) => at + 0.123456789012)',
  'as many objects as may be': 'Array.from({ length: 99_000 }, (_, at) => ({ a: at }))',
  'as many names as may be': 'Object.fromEntries(Array.from({ length: 19_900 }, (_, at) => [`k${at}`, at]))',
  'one long text': '"z".repeat(4_100_000)',
  'one long text of control characters': '"\\u0001".repeat(690_000)',
  'one long text of backslashes': '"\\\\".repeat(2_000_000)',
  'one long text of quotes': "'\"'.repeat(2_000_000)",
};
/** The same from Python. */
const OF_PYTHON: { readonly [Name in keyof typeof PASSED_ON]: string } = {
  'as many short texts as may be': "[f's{at}' for at in range(199_000)]",
  'as many fractions as may be': '[at + 0.123456789012 for at in range(199_000)]',
  'as many objects as may be': "[{'a': at} for at in range(99_000)]",
  'as many names as may be': "{f'k{at}': at for at in range(19_900)}",
  'one long text': "'z' * 4_100_000",
  'one long text of control characters': "'\\x01' * 690_000",
  'one long text of backslashes': "'\\\\' * 2_000_000",
  'one long text of quotes': "'\"' * 2_000_000",
};
/** Each just as large as it gets before its size alone is refused. */
const REFUSED = {
  'different names in one object':
    'Object.fromEntries(Array.from({ length: 290_000 }, (_, at) => [`k${at}`, 1]))',
  'different names in small objects': 'Array.from({ length: 200_000 }, (_, at) => ({ [`k${at}`]: 1 }))',
  'the same names in many objects': 'Array.from({ length: 250_000 }, (_, a) => ({ a, b: null }))',
  'empty objects': 'Array.from({ length: 1_300_000 }, () => ({}))',
  numbers: 'new Array(2_000_000).fill(7)',
  'short texts': 'Array.from({ length: 400_000 }, (_, at) => `s${at}`)',
};
const RESULTS = { ...PASSED_ON, ...REFUSED };
const WHO_RETURNS_THEM = { javascript: 'result', 'trusted javascript': 'trusted', python: 'python' };
const LONG_TEXT = `result_${Object.keys(RESULTS).indexOf('one long text')}`;
const half = 'a'.repeat(60_000);
const ANSWER = JSON.stringify({
  text: 'x'.repeat(400_000),
  hay: 'a'.repeat(250_000),
  needle: `${half}b${half}`,
  words: Array.from({ length: 200 }, (_, at) => `${'w'.repeat(500)}${at}`),
});

/** As much as one argument may be. */
const LONGEST = 262_000;
const filled = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const MAILS = {
  'HTML of list items, read for its text': { html: filled('<li>', LONGEST) },
  'HTML and text that are no ASCII': { html: filled('<b>é', LONGEST / 2), text: filled('é', LONGEST / 2) },
  'line ends alone': { text: filled('\n', LONGEST) },
  files: {
    text: 'x',
    files: Array.from({ length: 4 }, (_, at) => ({
      filename: `${at}é.bin`,
      base64: filled('QUJD', 240_000),
    })),
  },
};
const PAGES: { readonly [path: string]: { readonly body: string | Buffer; readonly coding?: string } } = {
  '/robots.txt': { body: 'User-agent: *\n' + 'Disallow: /a*a*a*b$\n'.repeat(20_000) },
  '/nested': { body: '<div>'.repeat(800_000) },
  '/wide': { body: '<p>a</p>'.repeat(500_000) },
  '/nothing': { body: Buffer.alloc(4_000_000) },
  '/bomb': { body: gzipSync(Buffer.alloc(100_000_000)), coding: 'gzip' },
};

let dir: string;
let servers: LoopbackServers;
let mailServer: MailServer;
let site: string;
let gateway: GatewayProcess;
let rest: string;
let grpc: string;

beforeAll(async () => {
  dir = tempDir();
  servers = new LoopbackServers();
  const upstream = await servers.http((_request, response) => {
    response.setHeader('content-type', 'application/json').end(ANSWER);
  });
  mailServer = await startMailServer({ authOptional: true });
  site = await servers.http((request, response) => {
    const page = PAGES[request.url ?? ''];
    response.setHeader('content-type', 'text/html');
    if (page?.coding !== undefined) response.setHeader('content-encoding', page.coding);
    response.end(page?.body);
  });
  writeFileSync(join(dir, 'one.js'), 'export const execute = () => 1;\n');
  const results = Object.values(RESULTS).map(
    (result, at) => `export const result_${at} = () => ${result};\n`,
  );
  writeFileSync(join(dir, 'results.mjs'), results.join(''));
  // What a trusted handler takes to make it is its own affair.
  const trusted = Object.values(PASSED_ON).map(
    (result, at) => `const made_${at} = ${result};\nexport const trusted_${at} = () => made_${at};\n`,
  );
  writeFileSync(join(dir, 'trusted.mjs'), trusted.join(''));
  const python = Object.values(OF_PYTHON).map(
    (result, at) => `def python_${at}() -> object:\n    return ${result}\n`,
  );
  writeFileSync(join(dir, 'results.py'), python.join(''));
  writeFileSync(join(dir, 'tools.yaml'), stringify(toolsFor(upstream)));
  writeFileSync(join(dir, 'more.yaml'), 'tools: []\n');
  const settings = {
    loaders: [{ type: 'yaml-file', paths: ['tools.yaml', 'more.yaml'] }],
    auth: { mode: 'none' },
    // A million objects and what the collector has not yet taken of the call before: near the 128 MiB that a thread has by default.
    executors: { javascript: { max_old_generation_mb: 512 } },
  };
  gateway = new GatewayProcess(dir, { ...configured(dir, settings), ...LOOP_PROBE });
  ({ rest, grpc } = await gateway.ready(60_000));
});

afterAll(async () => {
  await gateway.end();
  await mailServer.close();
  await servers.close();
  removeDir(dir);
});

function toolsFor(upstream: string): object {
  const one = { tool_type: 'javascript', implementation_config: { handler: './one.js', trusted: true } };
  const reach = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
  const argument = (schema: object, $defs: object = {}, names = ['v']) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, schema])),
    $defs,
  });
  return {
    connections: {
      upstream: { type: 'http', base_url: upstream, ...reach },
      mail: {
        type: 'smtp',
        host: 'localhost',
        port: mailServer.port,
        tls: { ca: mailServer.ca },
        ...reach,
      },
    },
    tools: [
      {
        name: 'mail',
        description: 'Sends a message',
        tool_type: 'smtp',
        input_schema: argument({}, {}, ['html', 'text', 'files']),
        implementation_config: {
          connection: 'mail',
          from: 'desk@example.com',
          to: 'ann@example.com',
          subject: 'Hello',
          text: '{text}',
          html: '{html}',
          attachments: '{files}',
        },
      },
      {
        name: 'page',
        description: 'Reads a page',
        tool_type: 'web-page',
        input_schema: argument({}, {}, ['url']),
        implementation_config: reach,
      },
      {
        name: 'honest',
        description: 'Takes numbers',
        input_schema: argument({ type: ['array', 'object'] }),
        ...one,
      },
      {
        name: 'parts',
        description: 'Has parts',
        input_schema: { allOf: [{ properties: { v: {} } }] },
        ...one,
      },
      ...COSTLY_SCHEMAS.map(({ name, schema, $defs }, at) => ({
        name: `schema_${at}`,
        description: name,
        input_schema: argument(schema, $defs),
        ...one,
      })),
      ...Object.keys(RESULTS).map((_, at) => returning(`result_${at}`, 'javascript', './results.mjs')),
      ...Object.keys(PASSED_ON).map((_, at) => returning(`trusted_${at}`, 'javascript', './trusted.mjs')),
      ...Object.keys(OF_PYTHON).map((_, at) => returning(`python_${at}`, 'python', 'results')),
      ...Object.entries(EXPRESSIONS).map(([name, jmespath]) => ({
        name,
        description: name,
        tool_type: 'http',
        implementation_config: { connection: 'upstream', path: '/', response: { jmespath } },
      })),
    ],
  };
}

function returning(name: string, executor: 'javascript' | 'python', source: string): object {
  const trusted = name.startsWith('trusted');
  return {
    name,
    description: name,
    tool_type: executor,
    implementation_config:
      executor === 'python'
        ? { module: source, function_name: name }
        : { handler: source, export: name, ...(trusted && { trusted }) },
    input_schema: { type: 'object' },
    output_schema: { type: ['array', 'object', 'string'] },
    timeout_ms: 30_000,
  };
}

async function call(tool: string, args: unknown, more: Readonly<Record<string, string>> = {}) {
  return post(`/v1/tools/${tool}/execute`, JSON.stringify({ arguments: args }), more);
}

async function post(
  path: string,
  body: string | Uint8Array,
  more: Readonly<Record<string, string>> = {},
): Promise<number> {
  const headers = { 'content-type': 'application/json', ...more };
  return (await answered(path, body, headers)).status;
}

async function answered(path: string, body: string | Uint8Array, headers: Readonly<Record<string, string>>) {
  const response = await fetch(`${rest}${path}`, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, length: text.length, start: text.slice(0, 300) };
}

/** Accepted, run, and read until it has ended. */
async function callLater(tool: string): Promise<void> {
  const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
  const accepted = await fetch(`${rest}/v1/tools/${tool}/execute`, { method: 'POST', headers, body: '{}' });
  expect(accepted.status).toBe(202);
  await accepted.arrayBuffer();
  await vi.waitUntil(
    async () => {
      const { headers: told, body } = await got(accepted.headers.get('location') ?? '');
      if (told.get('retry-after') !== null) return false;
      expect(body.slice(0, 2_000)).toContain('"succeeded"');
      return true;
    },
    { timeout: 30_000, interval: 50 },
  );
}

async function got(path: string) {
  const response = await fetch(new URL(path, rest));
  return { headers: response.headers, body: await response.text() };
}

/** The first run is for what is compiled at the first use, which is no data of a call. */
const attack = async (run: () => Promise<unknown>) => {
  await run();
  return leastHeldBy(gateway, MOST_MS, run);
};

describe('the event loop is not held by arguments', () => {
  it.each(COSTLY_SCHEMAS.map(({ name, value }, at) => ({ name, value, at })))(
    'of $name',
    async ({ value, at }) => {
      expect(await attack(() => call(`schema_${at}`, { v: value }))).toBeLessThan(MOST_MS);
    },
  );

  it('that are as many values, or as many names, as a door lets in', async () => {
    const list = Array.from({ length: 45_000 }, (_, at) => at);
    const map = Object.fromEntries(list.slice(0, 16_000).map((at) => [`k${at}`, at]));
    expect(await attack(() => call('honest', { v: list }))).toBeLessThan(MOST_MS);
    expect(await attack(() => call('honest', { v: map }))).toBeLessThan(MOST_MS);
  });

  it('that nothing declares, however many', async () => {
    const args = Object.fromEntries(Array.from({ length: 16_000 }, (_, at) => [`unknown${at}`, 0]));
    expect(await attack(() => call('honest', args))).toBeLessThan(MOST_MS);
    expect(await attack(() => call('parts', args))).toBeLessThan(MOST_MS);
  });

  it('that are no text', async () => {
    const bytes = Buffer.alloc(1_000_000, 0xc3);
    expect(await attack(() => post('/v1/tools/honest/execute', bytes))).toBeLessThan(MOST_MS);
    expect(await attack(() => post('/v1/execute', bytes))).toBeLessThan(MOST_MS);
  });
});

describe('the event loop is not held by calls that arrive together', () => {
  it.each(['Execute', 'ExecuteStream'] as const)('through %s, with 600 members each', async (method) => {
    const members = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`k${at}`, at]));
    const message = executeMessage('honest', members);
    const run = async () => {
      const bursts = [1, 2].map(() => callsInOneWrite(grpc, method, message, 100));
      expect(await Promise.all(bursts)).toEqual([100, 100]);
    };
    expect(await attack(run)).toBeLessThan(MOST_MS);
  });
});

describe('the event loop is not held by an answer that an expression selects from', () => {
  it.each(Object.keys(EXPRESSIONS))('with %s', async (tool) => {
    expect(await attack(() => call(tool, {}))).toBeLessThan(MOST_MS);
  });
});

describe('the event loop is not held by results', () => {
  const passedOn = Object.keys(PASSED_ON);

  describe.each(Object.entries(WHO_RETURNS_THEM))('of %s:', (_, prefix) => {
    it.each(passedOn.map((name, at) => ({ name, tool: `${prefix}_${at}` })))('$name', async ({ tool }) => {
      const run = async () => expect(await call(tool, {})).toBe(200);
      expect(await attack(run)).toBeLessThan(MOST_MS);
    });
  });

  it.each(Object.keys(REFUSED).map((name, at) => ({ name, tool: `result_${passedOn.length + at}` })))(
    'that are refused: $name',
    async ({ tool }) => {
      const headers = { 'content-type': 'application/json' };
      const run = async () => {
        const answer = await answered(`/v1/tools/${tool}/execute`, '{"arguments":{}}', headers);
        expect(answer).toMatchObject({
          status: 502,
          start: expect.stringMatching(/TOO_MANY_VALUES|OUTPUT_TOO_LARGE/),
        });
      };
      expect(await attack(run)).toBeLessThan(MOST_MS);
    },
  );

  it('of several calls at once', async () => {
    const calls = Array.from({ length: 16 }, () => ({ tool: LONG_TEXT, arguments: {} }));
    const held = await attack(() => post('/v1/execute', JSON.stringify({ calls })));
    expect(held).toBeLessThan(MOST_MS);
  });
});

describe('the event loop is not held by a message of', () => {
  it.each(Object.entries(MAILS))('%s', async (_, said) => {
    const before = mailServer.mails.length;
    expect(await attack(() => call('mail', said))).toBeLessThan(MOST_MS);
    expect(mailServer.mails.length).toBeGreaterThanOrEqual(before + 2);
  });
});

describe('the event loop is not held by a page', () => {
  it.each([
    ['nested without end', '/nested', 200],
    ['of half a million elements', '/wide', 200],
    ['of nothing but NUL', '/nothing', 200],
    ['that unpacks to a hundred megabytes', '/bomb', 502],
  ])('%s, on a site with twenty thousand rules', async (_, path, status) => {
    const run = async () => expect(await call('page', { url: site + path })).toBe(status);
    expect(await attack(run)).toBeLessThan(MOST_MS);
  });
});

describe('the event loop is not held by a result that is kept, of', () => {
  const kept = Object.keys(PASSED_ON).map((name, at) => ({ name, tool: `result_${at}` }));

  it.each(kept)('$name, under an idempotency key, and given again', async ({ tool }) => {
    const keep = async (key: string) => {
      expect(await call(tool, {}, { 'idempotency-key': key })).toBe(200);
    };
    expect(await attack(() => keep(randomUUID()))).toBeLessThan(MOST_MS);
    const key = randomUUID();
    expect(await attack(() => keep(key))).toBeLessThan(MOST_MS);
  });

  it.each(kept)('$name, of a call that nobody waits for', async ({ tool }) => {
    expect(await attack(() => callLater(tool))).toBeLessThan(MOST_MS);
  });
});

describe('the event loop is not held by a declaration', () => {
  it('of 20,000 keys that comes while the gateway runs', async () => {
    const keys = Array.from({ length: 20_000 }, (_, at) => `      key${at}: ${at}`).join('\n');
    const text = `tools:\n  - name: large\n    description: x\n    tool_type: javascript\n    extensions:\n${keys}\n`;
    const isTaken = async () =>
      ((await (await fetch(`${rest}/v1/admin/reload`)).json()) as { ok: boolean }).ok;
    const run = async () => {
      writeFileSync(join(dir, 'more.yaml'), 'tools: []\n');
      await eventually(isTaken, 'the file without it is taken');
      writeFileSync(join(dir, 'more.yaml'), text);
      await eventually(async () => !(await isTaken()), 'the declaration is refused');
    };
    expect(await leastHeldBy(gateway, MOST_MS, run)).toBeLessThan(MOST_MS);
    writeFileSync(join(dir, 'more.yaml'), 'tools: []\n');
  });
});

describe('the event loop is not held by the list of an MCP server', () => {
  const LISTED = 450;
  let folder: string;
  let listing: GatewayProcess;
  let url: string;

  beforeAll(async () => {
    folder = tempDir();
    // Started by root, the server is somebody else in the sandbox.
    chmodSync(folder, 0o755);
    offer('at first');
    const server = nodeServer(join(FIXTURES, 'changing.js'), [join(folder, 'tools.json')], {
      readable: [FIXTURES, folder],
    });
    const loaders = [{ type: 'mcp-server', name: 'many', refresh_interval: '1h', ...server }];
    const settings = configured(folder, { loaders, auth: { mode: 'none' } });
    listing = new GatewayProcess(folder, { ...settings, ...LOOP_PROBE });
    url = (await listing.ready(60_000)).rest;
  });

  afterAll(async () => {
    await listing.end();
    removeDir(folder);
  });

  function offer(said: string): void {
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: 'string', description: `${said} ${at}` }]),
    );
    const tools = Array.from({ length: LISTED }, (_, at) => ({
      name: `tool_${at}`,
      description: said,
      inputSchema: { type: 'object', properties },
    }));
    writeFileSync(join(folder, 'tools.json'), JSON.stringify({ tools, results: {} }));
  }

  it.each(['the same', 'another one each time'])('at a reload, %s', async (which) => {
    const run = async () => {
      if (which !== 'the same') offer(randomUUID());
      const response = await fetch(`${url}/v1/admin/reload`, { method: 'POST' });
      expect(await response.json()).toMatchObject({ ok: true });
    };
    await run();
    expect(await leastHeldBy(listing, MOST_MS, run)).toBeLessThan(MOST_MS);
  });
});
