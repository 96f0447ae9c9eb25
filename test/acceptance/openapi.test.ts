// Attacks by an OpenAPI document, and on the tools made of one: out of the document, out of the request, out of bounds.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { documentOf, OpenApiBench, toolNamed, toolNames } from '../helpers/openapi-kit.ts';

let bench: OpenApiBench;
let servers: LoopbackServers;

beforeEach(() => {
  bench = new OpenApiBench();
  servers = new LoopbackServers();
});

afterEach(async () => {
  await servers.close();
  await bench.close();
});

const GOOD = { get: { operationId: 'good', responses: {} } };

function bodyOf(schema: unknown) {
  return { required: true, content: { 'application/json': { schema } } };
}

function post(operationId: string, schema: unknown) {
  return { post: { operationId, requestBody: bodyOf(schema), responses: {} } };
}

/** Loads it beside a good operation, which must be there afterwards and pass the registry. */
async function loadBesideGood(paths: object, more: object = {}) {
  const loaded = await bench.load(documentOf({ '/good': GOOD, ...paths }, more));
  expect(loaded.problems).toEqual([]);
  bench.checked(loaded);
  expect(toolNames(loaded)).toContain('good');
  return loaded;
}

describe('a reference out of the document', () => {
  it.each([
    ['a file', '/etc/passwd'],
    ['a file beside it', 'secret.json#/a'],
    ['a file by URL', 'file:///etc/passwd'],
    ['the metadata service', 'http://169.254.169.254/latest/meta-data'],
    ['another site', 'https://example.com/schema.json'],
    ['another site without a scheme', '//example.com/schema.json'],
  ])('to %s is not followed: its operation is left out, and the place is named', async (_, ref) => {
    writeFileSync(join(bench.dir, 'secret.json'), '{"a":{"type":"string","const":"s3cret"}}');
    const loaded = await loadBesideGood({ '/bad': post('bad', { properties: { a: { $ref: ref } } }) });
    expect(toolNames(loaded)).toEqual(['good']);
    const why = bench.leftOut().get('POST /bad') ?? '';
    expect(why).toContain('#/paths/~1bad/post/requestBody/content/application~1json/schema/properties/a');
    expect(why).toContain('only references inside the document');
    expect(JSON.stringify([loaded.tools, bench.log.lines])).not.toContain('s3cret');
  });

  it.each([
    ['a path', { $ref: 'paths.yaml#/a' }],
    ['a parameter', { get: { parameters: [{ $ref: 'http://169.254.169.254/' }] } }],
    ['a request body', { post: { requestBody: { $ref: 'file:///etc/passwd' } } }],
  ])('in place of %s is not followed either', async (_, item) => {
    expect(toolNames(await loadBesideGood({ '/bad': item }))).toEqual(['good']);
    expect([...bench.leftOut().values()].join()).toContain('only references inside the document');
  });

  it('refuses the document where the operator says strict', async () => {
    const document = documentOf({ '/good': GOOD, '/bad': post('bad', { $ref: 'x.json' }) });
    const { problems } = await bench.load(document, { strict: true });
    expect(problems).toMatchObject([{ file: join(bench.dir, 'api.json'), line: expect.any(Number) }]);
    expect(problems[0]?.message).toMatch(/POST \/bad .*refers to "x\.json"/);
  });

  it('refuses the document where no operation is left', async () => {
    const { problems } = await bench.load(documentOf({ '/bad': post('bad', { $ref: 'x.json' }) }));
    expect(problems).toHaveLength(1);
  });
});

describe('references inside the document', () => {
  it('that lead in a circle end in a schema that allows anything', async () => {
    const schemas = {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, next: { $ref: '#/components/schemas/node' } },
      },
      a: { $ref: '#/components/schemas/b' },
      b: { $ref: '#/components/schemas/a' },
    };
    const loaded = await loadBesideGood(
      {
        '/tree': post('tree', { $ref: '#/components/schemas/node' }),
        '/loop': post('loop', { properties: { x: { $ref: '#/components/schemas/a' } } }),
        '/self': { $ref: '#/paths/~1self' },
      },
      { components: { schemas } },
    );
    expect(toolNamed(loaded, 'tree')['input_schema']).toMatchObject({
      properties: { name: { type: 'string' }, next: {} },
    });
    expect(toolNamed(loaded, 'loop')['input_schema']).toMatchObject({ properties: { x: {} } });
    expect([...bench.leftOut().values()].join()).toContain('chain of references without an end');
  });

  it('that double at each step do not fill the memory', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => {
        const next = { $ref: `#/components/schemas/s${n + 1}` };
        return [`s${n}`, { type: 'object', properties: { a: next, b: next, c: next } }];
      }),
    );
    const more = { components: { schemas: { ...schemas, s60: { type: 'string' } } } };
    const loaded = await loadBesideGood({ '/bomb': post('bomb', { $ref: '#/components/schemas/s0' }) }, more);
    expect(JSON.stringify(loaded.tools[1]?.value ?? '').length).toBeLessThan(64 * 1024);
  });

  it('that are wider than any depth can cut leave one operation out, and no other', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, n) => [`p${n}`, { type: 'string' }]),
    );
    expect(toolNames(await loadBesideGood({ '/wide': post('wide', { properties }) }))).toEqual(['good']);
    expect(bench.leftOut().get('POST /wide')).toContain('sub-schemas');
  });

  it('through a prototype lead nowhere', async () => {
    await loadBesideGood({ '/bad': post('bad', { $ref: '#/constructor/prototype' }) });
    expect(bench.leftOut().get('POST /bad')).toContain('is not there');
  });
});

describe('a document beyond its bounds', () => {
  const DEEP = 100_000;
  it.each([
    ['JSON', `{"openapi":"3.0.0","paths":{},"x":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`],
    ['maps of JSON', `{"openapi":"3.0.0","paths":{},"x":${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}}`],
    ['YAML', `openapi: 3.0.0\npaths: {}\nx: ${'['.repeat(DEEP)}${']'.repeat(DEEP)}`],
    ['JSON that is broken', '['.repeat(DEEP)],
  ])('of 100,000 levels of %s is a problem, not a crash', async (_, text) => {
    const { problems, tools } = await bench.load(text);
    expect(tools).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(/nested|not YAML|no OpenAPI/);
  });

  it('that multiplies by aliases of YAML is a problem', async () => {
    const lines = ['openapi: 3.0.0', 'paths: {}', 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 12; n += 1)
      lines.push(
        `a${n}: &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(', ')}]`,
      );
    const { problems } = await bench.load(lines.join('\n'));
    expect(problems[0]?.message).toMatch(/alias|values/i);
  });

  it('that is larger than the limit is not read', async () => {
    const { problems } = await bench.load(documentOf({ '/x': GOOD }, { filler: 'x'.repeat(4_096) }), {
      max_document_bytes: 2_048,
    });
    expect(problems).toMatchObject([{ message: 'is larger than max_document_bytes (2048)' }]);
  });

  it('that grows without end from a URL is cut off', async () => {
    let socketOfServer: Socket | undefined;
    const origin = await servers.raw((socket) => {
      socketOfServer = socket;
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"openapi":"');
      const more = () => socket.writable && socket.write('x'.repeat(65_536), () => setImmediate(more));
      more();
    });
    const document = { url: `${origin}/api.json`, allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
    const loader = bench.loader({ document, max_document_bytes: 1024 * 1024 }, bench.http);
    const { problems } = await loader.load(new AbortController().signal);
    expect(problems[0]?.message).toBe('is larger than max_document_bytes (1048576)');
    await expect.poll(() => socketOfServer?.destroyed).toBe(true);
  });

  it('that redirects to another place is not followed there', async () => {
    const hits: string[] = [];
    const victim = await servers.http((request, response) => response.end(void hits.push(request.url ?? '')));
    const origin = await servers.http((_, response) => response.writeHead(302, { location: victim }).end());
    const document = { url: origin, allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
    const { problems } = await bench.loader({ document }, bench.http).load(new AbortController().signal);
    expect(problems[0]?.message).toContain('redirects are not followed');
    expect(hits).toEqual([]);
  });

  it('at a private address is not fetched unless its range is allowed', async () => {
    const hits: string[] = [];
    const origin = await servers.http((request, response) => response.end(void hits.push(request.url ?? '')));
    const { problems } = await bench
      .loader({ document: { url: `${origin}/?key=s3cret`, allow_ports: ['1-65535'] } }, bench.http)
      .load(new AbortController().signal);
    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).not.toContain('s3cret');
    expect(hits).toEqual([]);
  });
});

describe('an operationId', () => {
  it.each([
    ['with control characters', 'a\u0000b\r\nc\u001b[31m', 'a_b_c_31m'],
    ['that climbs out of a folder', '../../etc/passwd', 'etc_passwd'],
    ['of dots alone', '....', 'get_bad'],
    ['of nothing that a name may hold', 'Ünïcode/\u202e', 'n_code'],
    ['that is a prototype’s', '__proto__', 'proto'],
  ])('%s becomes an ordinary name', async (_, operationId, expected) => {
    const loaded = await loadBesideGood({ '/bad': { get: { operationId } } });
    expect(toolNames(loaded)).toEqual(['good', expected]);
  });

  it('of 10,000 characters is cut', async () => {
    const loaded = await loadBesideGood({ '/bad': { get: { operationId: 'x'.repeat(10_000) } } });
    expect(toolNames(loaded)[1]).toHaveLength(128);
  });

  it('that clashes with others takes no tool away, whichever comes first', async () => {
    const paths = {
      '/one': { get: { operationId: 'same/name' } },
      '/two': { get: { operationId: 'same_name' } },
      '/three': { get: { operationId: 'same_name' } },
    };
    const loaded = await loadBesideGood(paths);
    expect(new Set(toolNames(loaded)).size).toBe(4);
    const reversed = await bench.load(documentOf(Object.fromEntries(Object.entries(paths).toReversed())));
    expect(toolNames(reversed).toSorted()).toEqual(toolNames(loaded).slice(1).toSorted());
  });

  it('that forges the mark of another clash is left out, and nothing else', async () => {
    const clash = { '/one': { get: { operationId: 'same' } }, '/two': { get: { operationId: 'same' } } };
    const [, forged = ''] = toolNames(await bench.load(documentOf(clash)));
    const loaded = await loadBesideGood({ ...clash, '/three': { get: { operationId: forged } } });
    expect(toolNames(loaded)).toHaveLength(3);
    expect(bench.leftOut().get('GET /three')).toContain('name of another one');
  });
});

describe('what one operation says', () => {
  it.each([
    ['a reference to the gateway’s environment', { get: { summary: '${env:UTE_DATABASE_URL}' } }],
    ['half a character', { get: { summary: 'x\ud800', parameters: [{ name: '\ud800', in: 'query' }] } }],
    [
      'a parameter called __proto__',
      { get: { parameters: [{ name: '__proto__', in: 'query', schema: {} }] } },
    ],
    ['a path that climbs', { get: {} }, '/a/../../admin'],
    ['a path with a stray brace', { get: {} }, '/a/{b'],
    ['a path with a backslash', { get: {} }, String.raw`/a\b`],
    ['a method that tunnels', { trace: {} }],
    [
      'a required cookie that cannot be one',
      { get: { parameters: [{ name: 'a=b;c', in: 'cookie', required: true }] } },
    ],
    ['a body that nobody can build', { post: { requestBody: { content: { 'multipart/related': {} } } } }],
    ['a required Host header', { get: { parameters: [{ name: 'Host', in: 'header', required: true }] } }],
    [
      'a header with a line break',
      { get: { parameters: [{ name: 'X\r\nY', in: 'header', required: true }] } },
    ],
    ['a server with a password', { get: { servers: [{ url: 'https://u:p@example.com' }] } }],
    ['a server of another scheme', { get: { servers: [{ url: 'file:///etc' }] } }],
  ])('%s takes it away, and no other', async (_, item, path = '/bad') => {
    const loaded = await loadBesideGood({ [path]: item });
    await bench.prepared(loaded);
    expect(toolNames(loaded)).toEqual(['good']);
    expect(bench.leftOut().size).toBe(1);
  });

  it.each([
    'Authorization',
    'Cookie',
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Proxy-Authorization',
    'X-Forwarded-For',
    'Connection',
    'TE',
    'Expect',
    'Forwarded',
    'Upgrade',
    'Trailer',
    'Keep-Alive',
    'Accept-Encoding',
    'Content-Encoding',
  ])('an optional header %s is not one that an agent can set', async (name) => {
    const parameters = [{ name, in: 'header', schema: { type: 'string' } }];
    const loaded = await loadBesideGood({ '/h': { get: { operationId: 'h', parameters } } });
    await bench.prepared(loaded);
    expect(toolNamed(loaded, 'h')['input_schema']).toMatchObject({ properties: {} });
  });

  it('a catastrophic pattern is not run', async () => {
    const schema = {
      properties: { a: { type: 'string', pattern: '(?=(a+)+$)' }, b: { type: 'string', pattern: '(a+)+$' } },
    };
    const loaded = await loadBesideGood({ '/p': post('p', schema) });
    expect(toolNamed(loaded, 'p')['input_schema']).toMatchObject({ properties: { a: { type: 'string' } } });
    expect(JSON.stringify(toolNamed(loaded, 'p'))).not.toContain('?=');
  });

  it('a server of its own does not get the credentials of the connection', async () => {
    const document = documentOf({
      '/good': GOOD,
      '/theft': { get: { operationId: 'theft', servers: [{ url: 'https://evil.example.com' }] } },
    });
    const loaded = await bench.load(document, { connection: 'api' });
    expect(toolNames(loaded)).toEqual(['good']);
    expect(JSON.stringify(loaded.tools)).not.toContain('evil');
  });
});

describe('an argument', () => {
  async function upstream() {
    const seen: { url: string; headers: string; body: string }[] = [];
    const origin = await servers.http(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      seen.push({ url: `${request.method} ${request.url}`, headers: request.rawHeaders.join('\n'), body });
      response.setHeader('content-type', 'application/json').end('{}');
    });
    const paths = {
      '/users/{user-id}/files/{name}': {
        get: {
          operationId: 'file',
          parameters: [
            { name: 'user-id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'filter', in: 'query', schema: { type: 'object' }, style: 'deepObject', explode: true },
            { name: 'q', in: 'query', schema: { type: 'string' } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          ],
        },
        patch: {
          operationId: 'update',
          parameters: [{ name: 'per_page', in: 'query', schema: { type: 'integer', default: 30 } }],
          requestBody: bodyOf({
            type: 'object',
            properties: { name: { type: 'string' }, private: { type: 'boolean', default: false } },
          }),
        },
      },
    };
    const loaded = await bench.load(documentOf(paths), {
      base_url: `${origin}/v1`,
      allow_private: ['127.0.0.0/8'],
      allow_ports: ['1-65535'],
    });
    bench.checked(loaded);
    return { seen, loaded };
  }

  it.each(['../../admin', '..', '.', 'a/../b', String.raw`..\admin`, '%2e%2e%2fadmin', 'a\u0000', ''])(
    'of the path that is %j does not leave its segment',
    async (name) => {
      const { seen, loaded } = await upstream();
      await expect(bench.call(loaded, 'file', { user_id: 'u', name })).rejects.toMatchObject({
        type: 'VALIDATION',
      });
      expect(seen).toEqual([]);
    },
  );

  it('of the path with a question mark or a hash stays in its segment', async () => {
    const { seen, loaded } = await upstream();
    await bench.call(loaded, 'file', { user_id: 'u?admin=1', name: 'n#x' });
    expect(seen[0]?.url).toBe('GET /v1/users/u%3Fadmin%3D1/files/n%23x');
  });

  it('of a header with a line break sends no second header', async () => {
    const { seen, loaded } = await upstream();
    const args = { user_id: 'u', name: 'n', X_Trace: 'x\r\nAuthorization: Bearer stolen' };
    await expect(bench.call(loaded, 'file', args)).rejects.toMatchObject({ type: 'VALIDATION' });
    expect(seen).toEqual([]);
  });

  it('of the query adds no parameter of its own', async () => {
    const { seen, loaded } = await upstream();
    await bench.call(loaded, 'file', { user_id: 'u', name: 'n', q: 'a&admin=1', filter: { 'a]&b': '&c=d' } });
    const query = new URL(seen[0]?.url.slice(4) ?? '', 'http://x').searchParams;
    expect([...query.keys()].toSorted()).toEqual(['filter[a]&b]', 'q']);
  });

  it('that nobody gave is not sent, whatever default the document names', async () => {
    const { seen, loaded } = await upstream();
    const schema = toolNamed(loaded, 'update')['input_schema'];
    expect(JSON.stringify(schema)).not.toMatch(/"default"/);
    expect(JSON.stringify(schema)).toContain('(Default: false)');
    // `name` is the path's; the body's is told apart.
    await bench.call(loaded, 'update', { user_id: 'u', name: 'n', name_body: 'new' });
    expect(seen).toMatchObject([{ url: 'PATCH /v1/users/u/files/n', body: '{"name":"new"}' }]);
  });
});
