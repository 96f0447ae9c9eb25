// What an operation needs besides JSON: forms, files, deep objects, styles of paths, cookies; and files that come back. Each is read
// at a real server, as it went over the wire.
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { LoadedTools } from '../../src/contract/tool/loaded-tools.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { documentOf, OpenApiBench, toolNamed, toolNames } from '../helpers/openapi-kit.ts';

const HERE = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
const FILES = { ...HERE, allow_hosts: ['127.0.0.1'] };
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
const inQuery = (name: string, more: object) => ({ name, in: 'query', ...more });
const body = (content: object) => ({ requestBody: { required: true, content } });
const text = { type: 'string' };
const PATHS = {
  '/form': {
    post: {
      operationId: 'form',
      ...body({
        'application/x-www-form-urlencoded': {
          schema: {
            type: 'object',
            required: ['amount'],
            properties: {
              amount: { type: 'integer' },
              to: { type: 'array', items: text },
              meta: { type: 'object' },
              card: { type: 'object' },
            },
          },
          encoding: { card: { style: 'deepObject', explode: true } },
        },
      }),
    },
  },
  '/upload': {
    post: {
      operationId: 'upload',
      ...body({
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            properties: {
              file: { type: 'string', format: 'binary', description: 'The <b>picture</b>' },
              title: text,
              meta: { type: 'object' },
              tags: { type: 'array', items: text },
              more: { type: 'array', items: { type: 'string', format: 'binary' } },
            },
          },
        },
      }),
    },
  },
  '/raw': {
    put: { operationId: 'raw', ...body({ 'image/png': { schema: { type: 'string', format: 'binary' } } }) },
  },
  '/text': { post: { operationId: 'text', ...body({ 'text/csv': { schema: text } }) } },
  '/search': {
    get: {
      operationId: 'search',
      description: '<p>Finds <em>things</em>.</p>',
      parameters: [
        inQuery('filter', { style: 'deepObject', explode: true, schema: { type: 'object' } }),
        inQuery('where', {
          content: {
            'application/json': { schema: { type: 'object', properties: { a: { type: 'integer' } } } },
          },
        }),
        { name: 'session', in: 'cookie', schema: text },
        { name: 'X-Ids', in: 'header', schema: { type: 'array', items: { type: 'integer' } } },
      ],
    },
  },
  '/items/{ids}/at{place}/by{key}': {
    get: {
      operationId: 'styles',
      parameters: [
        { name: 'ids', in: 'path', required: true, schema: { type: 'array', items: { type: 'integer' } } },
        {
          name: 'place',
          in: 'path',
          required: true,
          style: 'label',
          explode: true,
          schema: { type: 'array', items: text },
        },
        { name: 'key', in: 'path', required: true, style: 'matrix', schema: { type: 'object' } },
      ],
    },
  },
  '/#Target=Service.Do': { post: { operationId: 'fragment' } },
  '/acl?acl&kind={kind}': {
    get: { operationId: 'fixed', parameters: [{ name: 'kind', in: 'path', required: true, schema: text }] },
  },
  '/picture': { get: { operationId: 'picture' } },
};

let bench: OpenApiBench;
let servers: LoopbackServers;
let origin: string;
let loaded: LoadedTools;
const seen: { url: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];

beforeAll(async () => {
  bench = new OpenApiBench();
  servers = new LoopbackServers();
  origin = await servers.http(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push({
      url: `${request.method} ${request.url}`,
      headers: request.headers,
      body: Buffer.concat(chunks),
    });
    const isPicture = request.url === '/picture';
    const large = request.url === '/large' ? Buffer.alloc(4 * 1024 * 1024) : undefined;
    response
      .setHeader('content-type', isPicture ? 'image/png' : 'application/json')
      .end(large ?? (isPicture ? PNG : '{}'));
  });
  loaded = await bench.load(documentOf(PATHS), { base_url: origin, file_urls: FILES, ...HERE });
  bench.checked(loaded);
});

afterAll(async () => {
  await servers.close();
  await bench.close();
});

beforeEach(() => void seen.splice(0));

const call = (tool: string, args: JsonObject, from = loaded) => bench.call(from, tool, args);

/** As any server reads it. */
const formOf = async (): Promise<[string, string | File][]> => {
  const [request] = seen;
  const type = request?.headers['content-type'] ?? '';
  return [
    ...(await new Response(new Uint8Array(request?.body ?? []), {
      headers: { 'content-type': type },
    }).formData()),
  ];
};

it('every operation is there', () => {
  expect(loaded.problems).toEqual([]);
  expect(toolNames(loaded)).toHaveLength(Object.keys(PATHS).length);
});

it('a form is sent as one, lists and objects in the style that the document says', async () => {
  await call('form', {
    amount: 5,
    to: ['a&b', 'c'],
    meta: { x: 1 },
    card: { no: '4', exp: { m: 1 }, tags: ['p', { q: 2 }] },
  });
  expect(seen[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(await formOf()).toEqual([
    ['amount', '5'],
    ['to', 'a&b'],
    ['to', 'c'],
    ['meta', '{"x":1}'],
    ['card[no]', '4'],
    ['card[exp][m]', '1'],
    ['card[tags][0]', 'p'],
    ['card[tags][1][q]', '2'],
  ]);
});

describe('a file', () => {
  it('in base64 is a part of its own beside the others', async () => {
    const file = { base64: PNG.toString('base64'), filename: 'a "b".png', content_type: 'image/png' };
    await call('upload', { file, title: 'x\r\n--y', meta: { a: [1] }, tags: ['p', 'q'] });
    const parts = await formOf();
    expect(parts.map(([name]) => name)).toEqual(['file', 'title', 'meta', 'tags', 'tags']);
    const [, sent] = parts[0] ?? [];
    expect(sent).toMatchObject({ type: 'image/png' });
    expect(Buffer.from(await (sent as File).arrayBuffer())).toEqual(PNG);
    expect(parts.slice(1).map(([, value]) => (typeof value === 'string' ? value : 'a file'))).toEqual(
      expect.arrayContaining(['x\r\n--y', 'p', 'q']),
    );
  });

  it('by URL is fetched without credentials and sent on', async () => {
    await call('upload', { file: { url: `${origin}/picture` } });
    expect(seen.map(({ url }) => url)).toEqual(['GET /picture', 'POST /upload']);
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
    expect(seen[1]?.body.includes(PNG)).toBe(true);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    'file:///etc/passwd',
    'http://u:p@127.0.0.1/',
  ])('at %s is not fetched, and nothing is sent', async (url) => {
    await expect(call('upload', { file: { url } })).rejects.toMatchObject({
      type: 'VALIDATION',
      reason: 'UNSAFE_ARGUMENT',
    });
    expect(seen).toEqual([]);
  });

  it('by URL comes with at most 19 others, and none is fetched of more', async () => {
    const file = { url: `${origin}/picture` };
    const more = Array.from({ length: 20 }, () => file);
    await expect(call('upload', { file, more })).rejects.toMatchObject({
      type: 'VALIDATION',
      reason: 'UNSAFE_ARGUMENT',
      details: { violations: [{ pointer: '/more' }] },
    });
    expect(seen).toEqual([]);
    await call('upload', { file, more: more.slice(1) });
    expect(seen).toHaveLength(21);
  });

  it('by URL is no larger, with all others of the call, than one may be', async () => {
    const large = { url: `${origin}/large` };
    await expect(call('upload', { file: large, more: [large, large, large] })).rejects.toMatchObject({
      type: 'VALIDATION',
      reason: 'UNSAFE_ARGUMENT',
      details: { violations: [{ pointer: '/more' }] },
    });
    expect(seen.map(({ url }) => url)).toEqual(['GET /large', 'GET /large', 'GET /large']);
  });

  it('by URL needs the hosts that it may come from, or public', async () => {
    await expect(
      bench.load(documentOf(PATHS), { base_url: origin, file_urls: HERE, ...HERE }),
    ).rejects.toThrow(/allow_hosts/);
  });

  it('by URL is refused, and not offered, unless the operator says where files may come from', async () => {
    const strict = await bench.load(documentOf(PATHS), { base_url: origin, ...HERE });
    expect(JSON.stringify(toolNamed(strict, 'upload')['input_schema'])).not.toContain('url');
    await expect(call('upload', { file: { url: `${origin}/picture` } }, strict)).rejects.toMatchObject({
      type: 'VALIDATION',
    });
    expect(seen).toEqual([]);
  });

  it('by itself is the body', async () => {
    await call('raw', { body: PNG.toString('base64') });
    expect(seen[0]).toMatchObject({ headers: { 'content-type': 'image/png' }, body: PNG });
  });

  it('that comes back is base64 with its type and size', async () => {
    expect(await call('picture', {})).toEqual({
      content_type: 'image/png',
      size: PNG.length,
      base64: PNG.toString('base64'),
    });
  });
});

it('a text is the body as it is', async () => {
  await call('text', { body: 'a,b\n1,"2"' });
  expect(seen[0]).toMatchObject({ headers: { 'content-type': 'text/csv' }, body: Buffer.from('a,b\n1,"2"') });
});

it('queries, headers and cookies hold lists, objects and JSON', async () => {
  await call('search', {
    filter: { a: { b: ['x', 'y&z'] } },
    where: { a: 1 },
    session: 'a b;c',
    X_Ids: [1, 2],
  });
  expect(seen[0]).toMatchObject({
    url: 'GET /search?filter[a][b][0]=x&filter[a][b][1]=y%26z&where=%7B%22a%22%3A1%7D',
    headers: { 'x-ids': '1,2', cookie: 'session=a%20b%3Bc' },
  });
  expect(toolNamed(loaded, 'search')).toMatchObject({
    description: 'Finds things.',
    input_schema: { properties: { where: { type: 'object', properties: { a: { type: 'integer' } } } } },
  });
});

it('paths hold lists and objects, label and matrix, and never another segment', async () => {
  await call('styles', { ids: [1, 2], place: ['a', 'b/c'], key: { r: '5%' } });
  expect(seen[0]?.url).toBe('GET /items/1,2/at.a.b%2Fc/by;key=r,5%25');
  await expect(call('styles', { ids: ['..'], place: [], key: {} })).rejects.toMatchObject({
    type: 'VALIDATION',
  });
});

it('a fragment of a path is not sent, and a query is', async () => {
  await call('fragment', {});
  await call('fixed', { kind: 'a&b' });
  expect(seen.map(({ url }) => url)).toEqual(['POST /', 'GET /acl?acl=&kind=a%26b']);
});

it('a server without a scheme is one by https', async () => {
  const document = {
    ...documentOf({ '/x': { get: { operationId: 'x' } } }),
    servers: [{ url: '//api.example.com/v1' }],
  };
  expect(toolNamed(await bench.load(document), 'x')).toMatchObject({
    implementation_config: { url: 'https://api.example.com/v1/x' },
  });
});

it('the limit counts the operations that are asked for', async () => {
  const paths = Object.fromEntries(
    Array.from({ length: 10_001 }, (_, n) => [`/${n % 2 === 0 ? 'a' : 'b'}/${n}`, { get: {} }]),
  );
  const document = documentOf(paths);
  expect((await bench.load(document)).problems[0]?.message).toMatch(
    /10001 operations; expected at most 10000: say path_prefix/,
  );
  expect((await bench.load(document, { path_prefix: '/b/' })).tools).toHaveLength(5_000);
});
