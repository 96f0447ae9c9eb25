// The http loader against a real server: problems with their places, 304, changes, signatures, and a source that is away.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { specRules } from '../../src/app/gateway/registry-rules.ts';
import { validateLoaded } from '../../src/registry/checks/spec-validation.ts';
import { optionsSchema } from '../../src/loaders/http/options.ts';
import { FakeClock, settled } from '../helpers/fake-clock.ts';
import {
  document,
  HttpLoaderBench,
  httpTool,
  load,
  messagesOf,
  namesOf,
} from '../helpers/http-loader-kit.ts';
import { eventually } from '../helpers/eventually.ts';

const STALE = 'ute_loader_source_stale';

let bench: HttpLoaderBench;

beforeEach(async () => {
  bench = await new HttpLoaderBench().start();
});

afterEach(() => bench.close());

const COPY = expect.stringMatching(/^http-[0-9a-f]{24}\.json$/) as string;
const copies = () => readdirSync(join(bench.dir, 'data', 'loaders'));

describe('a document', () => {
  it.each([
    ['YAML', document(httpTool('a'), httpTool('b')), 'text/yaml; charset=utf-8'],
    ['JSON', toJson('a', 'b'), 'application/json'],
    ['JSON in many lines, with tabs', toJson('a', 'b', '\t'), 'application/octet-stream'],
  ])('of %s is taken as tools.yaml is', async (_, body, type) => {
    bench.served.headers['content-type'] = type;
    const loaded = await bench.load(body);
    expect(loaded.problems).toEqual([]);
    expect(namesOf(loaded)).toEqual(['a', 'b']);
    expect(validateLoaded([loaded], specRules()).problems).toEqual([]);
  });

  it.each([
    ['block', document(httpTool('a'), httpTool('b', 'timeout_ms: soon')), 10, 17],
    ['flow', `{"tools": [\n {"name": "b",\n"timeout_ms": "soon"}]}`, 3, 15],
    ['one line', `{"tools": [{"name": "a"}, {"name": "b", "timeout_ms": "soon"}]}`, 1, 55],
  ])('with something wrong names URL, line and column: %s', async (_, body, line, column) => {
    const loaded = await bench.load(body);
    expect(loaded.problems).toEqual([]);
    const { problems } = validateLoaded([loaded], specRules());
    const problem = problems.find(({ path }) => path === 'timeout_ms');
    expect(problem).toMatchObject({ file: bench.url, line, column, tool: 'b' });
  });

  it('that is not YAML names the place', async () => {
    const { problems } = await bench.load('tools:\n  - name: "a\n');
    expect(problems[0]).toMatchObject({
      file: bench.url,
      line: expect.any(Number),
      column: expect.any(Number),
    });
  });

  it('may declare connections only where the loader allows it', async () => {
    const text = `connections:\n  api: { type: http, base_url: "https://api.example.com" }\n${document(
      `  - name: a\n    description: A\n    tool_type: http\n    implementation_config: { connection: api, path: /x }\n`,
    )}`;
    expect(messagesOf(await bench.load(text))).toEqual([
      'connections may not come from this source: its loader does not allow_connections',
    ]);
    const loaded = await bench.load(text, { allow_connections: true });
    expect(loaded.problems).toEqual([]);
    expect(validateLoaded([loaded], specRules()).problems).toEqual([]);
  });
});

describe('a source', () => {
  it('is asked with its ETag, and a document that did not change is not sent or read again', async () => {
    bench.served.body = document(httpTool('a'));
    const loader = bench.loader();
    const first = await load(loader);
    expect((await load(loader)).tools).toBe(first.tools);
    expect(bench.served.asked.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      expect.stringMatching(/^"[0-9a-f]{16}"$/),
    ]);
  });

  it.each([
    [{ type: 'bearer', token: '${env:HTTP_LOADER_TOKEN}' }, { authorization: 'Bearer s3cret' }, ''],
    [{ type: 'basic', username: 'ada', password: 'x:y' }, { authorization: 'Basic YWRhOng6eQ==' }, ''],
    [{ type: 'api_key', in: 'header', name: 'X-Key', value: '${file:key}' }, { 'x-key': 'k3y' }, ''],
    [{ type: 'api_key', in: 'query', name: 'key', value: 'a b' }, {}, '?key=a+b'],
  ])('is shown the credential %j', async (auth, headers, query) => {
    vi.stubEnv('HTTP_LOADER_TOKEN', 's3cret');
    writeFileSync(join(bench.dir, 'key'), 'k3y\n');
    await bench.load(document(httpTool('a')), { auth });
    expect(bench.served.asked[0]?.headers).toMatchObject(headers);
    expect(bench.served.asked[0]?.url).toBe(`/tools.yaml${query}`);
    vi.unstubAllEnvs();
  });

  it('whose credential cannot be had is not asked', async () => {
    const auth = { type: 'bearer', token: '${env:NO_SUCH_VARIABLE}' };
    expect(messagesOf(await bench.load('tools: []', { auth }))[0]).toMatch(
      /auth\.token: .*NO_SUCH_VARIABLE is not set/,
    );
    expect(bench.served.asked).toEqual([]);
  });

  it('is looked at within each interval, and a change is announced once', async () => {
    bench.served.body = document(httpTool('a'));
    const clock = new FakeClock();
    const loader = bench.loader({ interval: '10s' }, { clock });
    await load(loader);
    const stopping = new AbortController();
    let announced = 0;
    const watching = loader.watch(() => (announced += 1), stopping.signal);
    const look = async () => {
      const before = bench.served.asked.length;
      await clock.advance(10_000);
      await eventually(() => expect(bench.served.asked.length).toBeGreaterThan(before));
      await pause(50);
      await settled();
    };
    await look();
    expect(announced).toBe(0);
    bench.served.body = document(httpTool('b'));
    await look();
    await look();
    expect(announced).toBe(1);
    expect(namesOf(await load(loader))).toEqual(['b']);
    stopping.abort();
    await watching;
  });
});

describe('a source that is away', () => {
  it('leaves its last good document in force: a warning, a metric, one line in the log', async () => {
    bench.served.body = document(httpTool('a'));
    const loader = bench.loader();
    await load(loader);
    loader.taken();
    bench.served.status = 503;
    const loaded = await load(loader);
    await load(loader);
    expect(namesOf(loaded)).toEqual(['a']);
    expect(loaded.problems).toEqual([]);
    expect(loaded.warnings[0]?.message).toMatch(
      /^was answered with HTTP 503; what it gave at .* stays in force$/,
    );
    expect(bench.metrics.values.get(`${STALE}{http,${bench.url}}`)).toBe(1);
    expect(bench.log.lines.filter(({ fields }) => fields['degraded'] === true)).toHaveLength(1);

    bench.served.status = 200;
    expect((await load(loader)).warnings).toEqual([]);
    expect(bench.metrics.values.get(`${STALE}{http,${bench.url}}`)).toBe(0);
  });

  it('does not keep a restart from its tools: the copy on disk holds them, for this user alone', async () => {
    bench.served.body = document(httpTool('a'));
    const before = bench.loader();
    await load(before);
    before.taken();
    // Until then it is there by another name.
    await eventually(() => expect(copies()).toEqual([COPY]));
    expect(statSync(join(bench.dir, 'data', 'loaders', copies()[0] ?? '')).mode & 0o077).toBe(0);
    bench.served.answer = (request) => void request.socket.destroy();
    const loaded = await load(bench.loader());
    expect([namesOf(loaded), loaded.problems, loaded.warnings.length]).toEqual([['a'], [], 1]);
    expect(messagesOf(await load(bench.loader({ keep_copy: false })))[0]).toMatch(/^cannot be fetched/);
  });

  it('a document that the registry refused is not what a restart goes on with', async () => {
    const loader = bench.loader();
    bench.served.body = document(httpTool('good'));
    await load(loader);
    loader.taken();
    await eventually(() => expect(copies()).toEqual([COPY]));
    bench.served.body = document(httpTool('refused'));
    await load(loader);
    bench.served.status = 500;
    expect(namesOf(await load(loader))).toEqual(['good']);
    expect(namesOf(await load(bench.loader()))).toEqual(['good']);
  });

  it('and was never there is a problem', async () => {
    bench.served.status = 404;
    const { problems } = await load(bench.loader());
    expect(problems).toEqual([{ file: bench.url, message: 'was answered with HTTP 404' }]);
  });
});

describe('a signature', () => {
  const body = document(httpTool('a'));
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const ed25519 = sign(null, Buffer.from(body), privateKey);
  const hmac = createHmac('sha256', 'a secret of 16 bytes').update(body).digest();

  it.each([
    ['ed25519', publicKey.export({ type: 'spki', format: 'pem' }).toString(), ed25519.toString('base64')],
    ['ed25519', raw.toString('base64'), ed25519.toString('hex')],
    ['hmac-sha256', 'a secret of 16 bytes', hmac.toString('base64')],
    ['hmac-sha256', 'a secret of 16 bytes', `sha256=${hmac.toString('hex')}`],
  ])('of %s over the exact bytes is accepted', async (algorithm, key, written) => {
    bench.served.headers['x-ute-signature'] = written;
    expect(namesOf(await bench.load(body, { signature: { algorithm, key } }))).toEqual(['a']);
  });

  it.each([
    ['ed25519', 'not a key', /signature\.key: expected an Ed25519 public key/],
    ['hmac-sha256', 'short', /signature\.key: expected a secret of at least 16 bytes/],
  ])(
    'with an unusable key for %s refuses everything, and does not show the key',
    async (algorithm, key, words) => {
      bench.served.headers['x-ute-signature'] = hmac.toString('hex');
      const messages = messagesOf(await bench.load(body, { signature: { algorithm, key } }));
      expect(messages[0]).toMatch(words);
      expect(messages[0]).not.toContain(key);
    },
  );
});

it.each([
  [{ url: 'ftp://x/y' }, 'url'],
  [{ url: 'https://user:pass@x/y' }, 'url'],
  [{ url: 'https://x/y', interval: '10ms' }, 'interval'],
  [{ url: 'https://x/y', interval: 'often' }, 'interval'],
  [{ url: 'https://x/y', allow_private: ['10.0.0.0'] }, 'allow_private.0'],
  [{ url: 'https://x/y', follow_redirects: true }, ''],
])('the options %j are refused at their place', (options, path) => {
  const { error } = optionsSchema.safeParse(options);
  expect(error?.issues[0]?.path.join('.')).toBe(path);
});

function toJson(...args: string[]): string {
  const indent = args.at(-1) === '\t' ? '\t' : undefined;
  const tools = args
    .filter((name) => name !== '\t')
    .map((name) => ({
      name,
      description: `Says "${name}" / é \u2028`,
      tool_type: 'http',
      implementation_config: { url: `https://api.example.com/${name}` },
    }));
  return JSON.stringify({ tools }, undefined, indent);
}
