// The web-page executor in a world of a test's own: where it goes, what it obeys, and what it gives up on.
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../infra/clock/system-clock.ts';
import { UndiciHttpClient } from '../../infra/http/undici-http-client.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import { callOf, functionOf, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeOutside } from '../../../test/helpers/fake-outside.ts';
import { LoopbackServers } from '../../../test/helpers/loopback-servers.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import { webPageExecutor } from './index.ts';
import { pageSettingsSchema } from './settings.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const PUBLIC = '93.184.215.14';
const clock = new SystemClock();
const servers = new LoopbackServers();
let outside: FakeOutside;
let http: UndiciHttpClient;
let site: string;
/** By path, of every host. */
let pages: Map<string, Answer>;
let asked: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
const settings = (said: JsonObject = {}) => pageSettingsSchema().parse(said);
/** The client of the test that runs. */
const current: HttpClient = {
  request: (request) => http.request(request),
  fetch: (...said) => http.fetch(...said),
  close: () => http.close(),
};
const create = (said?: JsonObject) =>
  webPageExecutor.create({
    http: current,
    clock,
    log: quietLog,
    metrics: recordingMetrics(),
    settings: settings(said),
  });
/** Its threads serve all tests. */
const executor = create();
const others: (typeof executor)[] = [];

beforeAll(async () => {
  site = await servers.http((request, response) => {
    const { url = '', headers } = request;
    asked.push({ path: url, headers });
    const answer = pages.get(url);
    if (answer === undefined) response.writeHead(404).end('none');
    else answer(request, response);
  });
});
afterAll(async () => {
  await executor.close?.();
  await servers.close();
});
beforeEach(() => {
  pages = new Map([['/page', html('<title>Hi</title><p>Hello</p>')]]);
  asked = [];
  outside = new FakeOutside().name('site.test', PUBLIC).name('other.test', PUBLIC).route(PUBLIC, site);
  http = new UndiciHttpClient({ outside });
});
afterEach(async () => {
  await Promise.all(others.splice(0).map(async (each) => each.close?.()));
  await http.close();
});

function html(body: string, headers: Record<string, string> = {}): Answer {
  return (_, response) => response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body);
}
function to(location: string, status = 302): Answer {
  // A body without an end: nobody reads it.
  return (_, response) => void response.writeHead(status, { location }).write('x');
}

const SCHEMA = { type: 'object', properties: { url: { type: 'string' } } };

async function prepared(options: JsonObject = {}, said?: JsonObject): Promise<PreparedFunction> {
  const own = said === undefined ? executor : create(said);
  if (own !== executor) others.push(own);
  return own.prepare({
    function: functionOf({ inputSchema: SCHEMA }),
    options: webPageExecutor.optionsSchema.parse(options),
  });
}
async function fetched(url: string, options: JsonObject = {}, said?: JsonObject, more: JsonObject = {}) {
  const tool = await prepared(options, said);
  const { data } = await tool.execute(
    callOf({ arguments: { url, ...more }, signal: AbortSignal.timeout(60_000) }),
    () => {},
  );
  return data;
}

it('answers with the page as text, and sends nothing of its caller along', async () => {
  expect(await fetched('http://site.test/page#part')).toEqual({
    url: 'http://site.test/page',
    title: 'Hi',
    content_type: 'text/html',
    format: 'markdown',
    content: 'Hello',
    total_characters: 5,
  });
  expect(asked.map(({ path }) => path)).toEqual(['/robots.txt', '/page']);
  expect(asked[1]?.headers).toEqual({
    host: 'site.test',
    connection: 'keep-alive',
    'user-agent': 'unified-tool-executor',
    accept: expect.any(String) as string,
    'accept-encoding': 'identity',
  });
});

it('a long text comes in pieces', async () => {
  pages.set('/long', (_, response) =>
    response.setHeader('content-type', 'text/plain').end('0123456789'.repeat(30)),
  );
  const first = await fetched('http://site.test/long', { max_characters: 200 });
  expect(first).toMatchObject({ total_characters: 300, next_offset: 200 });
  const rest = await fetched('http://site.test/long', { max_characters: 200 }, undefined, { offset: 200 });
  expect(rest).toMatchObject({ content: '0123456789'.repeat(10) });
  expect(rest).not.toHaveProperty('next_offset');
});

describe('URLs that are none of the web', () => {
  it.each([
    'file:///etc/passwd',
    'data:text/html,<p>x',
    'javascript:alert(1)',
    'ftp://site.test/page',
    'gopher://site.test/',
    '//site.test/page',
    'site.test/page',
    'http://user:secret@site.test/page',
    'http://site.test\\@evil.test/page',
    'http://site.test/a\r\nHost: evil.test',
    'http://si te.test/',
    `http://site.test/${'a'.repeat(2_100)}`,
    'http://',
    '',
  ])('%j is refused before anything is sent', async (url) => {
    const refused = { type: 'VALIDATION', reason: 'UNSAFE_ARGUMENT', partialSideEffects: false };
    await expect(fetched(url)).rejects.toMatchObject(refused);
    expect(outside.dialled).toEqual([]);
    expect(outside.asked).toEqual([]);
  });
});

describe('addresses that are not public', () => {
  beforeEach(() => {
    outside.name('inside.test', '10.0.0.7').name('mapped.test', '::ffff:127.0.0.1').elsewhere(site);
  });
  const PLACES = [
    'http://127.0.0.1/page',
    'http://2130706433/page',
    'http://0x7f.1/page',
    'http://0177.0.0.1/page',
    'http://127.1/page',
    'http://0/page',
    'http://[::1]/page',
    'http://[::ffff:127.0.0.1]/page',
    'http://[::ffff:7f00:1]/page',
    'http://[64:ff9b::7f00:1]/page',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.100.100.200/page',
    'http://10.1.2.3/page',
    'http://inside.test/page',
    'http://mapped.test/page',
    'http://site.test:8080/page',
    'http://①②⑦.0.0.1/page',
  ];
  it.each(PLACES)('%s is not reached', async (url) => {
    await expect(fetched(url)).rejects.toMatchObject({ reason: 'EGRESS_DENIED' });
    expect(outside.dialled).toEqual([]);
  });

  it.each(PLACES.filter((url) => /^[\x20-\x7e]*$/.test(url)))('nor by a redirect to %s', async (url) => {
    pages.set('/go', to(url));
    await expect(fetched('http://site.test/go')).rejects.toMatchObject({ reason: 'EGRESS_DENIED' });
    expect(outside.dialled.every(({ hostname }) => hostname === 'site.test')).toBe(true);
  });

  it('a name that leads elsewhere the second time is not followed there', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    outside.answers('site.test', () => answers.shift() ?? ['127.0.0.1']);
    pages.set('/robots.txt', (_, response) => response.writeHead(404, { connection: 'close' }).end());
    await expect(fetched('http://site.test/page')).rejects.toMatchObject({ reason: 'EGRESS_DENIED' });
    expect(asked.map(({ path }) => path)).toEqual(['/robots.txt']);
  });
});

describe('redirects', () => {
  it('are followed to another host, whose robots.txt is asked too', async () => {
    pages.set('/go', to('//other.test/page', 301));
    expect(await fetched('http://site.test/go')).toMatchObject({
      url: 'http://other.test/page',
      requested_url: 'http://site.test/go',
      content: 'Hello',
    });
    const hosts = asked.map(({ path, headers }) => `${headers.host}${path}`);
    expect(hosts).toEqual([
      'site.test/robots.txt',
      'site.test/go',
      'other.test/robots.txt',
      'other.test/page',
    ]);
  });

  it.each([
    'file:///etc/passwd',
    'data:text/html,x',
    'http://u:p@other.test/page',
    'http://a b/',
    'ftp://other.test/',
  ])('to %s are refused', async (location) => {
    pages.set('/go', to(location));
    await expect(fetched('http://site.test/go')).rejects.toMatchObject({ reason: 'REDIRECT_REFUSED' });
  });

  it('without an end are given up', async () => {
    pages.set('/go', to('/go'));
    await expect(fetched('http://site.test/go')).rejects.toMatchObject({ reason: 'REDIRECT_REFUSED' });
    expect(asked.filter(({ path }) => path === '/go')).toHaveLength(6);
    await expect(fetched('http://site.test/go', { max_redirects: 0 })).rejects.toMatchObject({
      reason: 'REDIRECT_REFUSED',
    });
  });

  it('of a page itself (refresh) are not followed', async () => {
    pages.set(
      '/go',
      html('<meta http-equiv="refresh" content="0;url=http://127.0.0.1/"><p>Wait</p>', {
        refresh: '0;url=http://127.0.0.1/',
      }),
    );
    expect(await fetched('http://site.test/go')).toMatchObject({ content: 'Wait' });
  });

  it.each([
    ['executors.web-page.deny_hosts', {}, { deny_hosts: ['*.test', 'other.test'] }],
    ['executors.web-page.allow_hosts', {}, { allow_hosts: ['site.test'] }],
    ['allow_hosts of the tool', { allow_hosts: ['site.test'] }, {}],
  ])('do not leave what %s lets be reached', async (_what, options, said) => {
    pages.set('/go', to('http://other.test/page'));
    await expect(fetched('http://site.test/go', options, said)).rejects.toMatchObject({
      reason: 'EGRESS_DENIED',
    });
    expect(asked.some(({ headers }) => headers.host === 'other.test')).toBe(false);
  });
});

describe('robots.txt', () => {
  const DENIED = { type: 'PERMISSION_DENIED', reason: 'ROBOTS_DENIED' };
  const rules =
    (text: string): Answer =>
    (_, response) =>
      response.writeHead(200).end(text);

  it.each([
    ['User-agent: *\nDisallow: /page', false],
    ['User-agent: *\nDisallow: /\nAllow: /page', true],
    ['User-agent: unified-tool-executor\nDisallow: /page\n\nUser-agent: *\nAllow: /', false],
    ['User-agent: googlebot\nDisallow: /', true],
    ['User-agent: *\nDisallow:', true],
    ['User-agent: *\nDisallow: /*ge$', false],
    ['no rules at all', true],
  ])('%j: fetched %s', async (text, isFetched) => {
    pages.set('/robots.txt', rules(text));
    const outcome = await fetched('http://site.test/page').catch((error: unknown) => error);
    expect(outcome).toMatchObject(isFetched ? { content: 'Hello' } : DENIED);
    expect(asked.some(({ path }) => path === '/page')).toBe(isFetched);
  });

  it('holds for what a redirect leads to', async () => {
    pages.set('/robots.txt', rules('User-agent: *\nDisallow: /page'));
    pages.set('/go', to('/page'));
    await expect(fetched('http://site.test/go')).rejects.toMatchObject({ reason: 'ROBOTS_DENIED' });
  });

  it('is asked once for many pages, and not at all where the tool says so', async () => {
    pages.set('/robots.txt', rules('User-agent: *\nDisallow: /private'));
    const tool = await prepared();
    for (let count = 0; count < 3; count += 1)
      await tool.execute(callOf({ arguments: { url: 'http://site.test/page' } }), () => {});
    expect(asked.filter(({ path }) => path === '/robots.txt')).toHaveLength(1);
    asked = [];
    await fetched('http://site.test/page', { robots: 'ignore' });
    expect(asked.map(({ path }) => path)).toEqual(['/page']);
  });

  it.each<readonly [string, Answer]>([
    ['an error of the site', (_, response) => void response.writeHead(503).end()],
    ['too many requests', (_, response) => void response.writeHead(429).end()],
    ['100 MB', (_, response) => void response.writeHead(200, { 'content-length': '100000000' }).write('#')],
    [
      'a stream without an end',
      (_, response) => {
        response.writeHead(200);
        const more = (): void => {
          if (!response.destroyed) response.write('#'.repeat(65_536), more);
        };
        more();
      },
    ],
    ['a redirect to a private address', to('http://127.0.0.1/robots.txt')],
    ['a redirect to a file', to('file:///etc/passwd')],
    ['redirects without an end', to('/robots.txt')],
    [
      'a bomb',
      (_, response) =>
        void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64_000_000))),
    ],
    [
      'rules that take for ever',
      (_, response) =>
        void response
          .writeHead(200)
          .end(`User-agent: *\n${`Disallow: /${'*a'.repeat(1_000)}\n`.repeat(250)}`),
    ],
  ])('that is %s lets nothing be fetched', async (_what, answer) => {
    pages.set('/robots.txt', answer);
    const long = `http://site.test/page?${'a'.repeat(1_900)}`;
    await expect(fetched(long, {}, { max_work_ms: 100 })).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'ROBOTS_UNREADABLE',
    });
    expect(asked.some(({ path }) => path.startsWith('/page'))).toBe(false);
  });

  it('a site that is not reached at all is told as that', async () => {
    await expect(fetched('http://nowhere.test/page')).rejects.toMatchObject({ reason: 'CONNECT_FAILED' });
  });
});

describe('what is no page', () => {
  it.each([
    ['application/pdf', 'a PDF document'],
    ['image/png', 'of the type image/png'],
    ['video/mp4', 'of the type video/mp4'],
    ['<script>', 'of an unknown type'],
  ])('%s is refused by its head, and nothing of it is downloaded', async (type, what) => {
    pages.set(
      '/file',
      (_, response) =>
        void response.writeHead(200, { 'content-type': type, 'content-length': '999999999' }).write('%PDF-'),
    );
    await expect(fetched('http://site.test/file')).rejects.toMatchObject({
      type: 'PERMANENT',
      reason: 'PAGE_NOT_TEXT',
      details: { found: what },
    });
  });

  it('a PDF that calls itself a page is refused too', async () => {
    pages.set('/file', html('%PDF-1.7'));
    await expect(fetched('http://site.test/file')).rejects.toMatchObject({
      details: { found: 'a PDF document' },
    });
  });

  it.each([
    [404, 'NOT_FOUND'],
    [403, 'PERMISSION_DENIED'],
    [500, 'TRANSIENT'],
    [304, 'PERMANENT'],
  ])('HTTP %i is %s', async (status, type) => {
    pages.set('/file', (_, response) => void response.writeHead(status).end());
    await expect(fetched('http://site.test/file')).rejects.toMatchObject({ type, reason: `HTTP_${status}` });
  });

  it('HTTP 429 says when to come again', async () => {
    pages.set('/file', (_, response) => void response.writeHead(429, { 'retry-after': '7' }).end());
    await expect(fetched('http://site.test/file')).rejects.toMatchObject({
      type: 'RATE_LIMIT',
      retryAfterMs: 7_000,
    });
  });

  it.each<readonly [string, Answer]>([
    ['is larger than it may be', html('x'.repeat(3_000))],
    [
      'has no end',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        const more = (): void => {
          if (!response.destroyed) response.write('<p>'.repeat(2_000), more);
        };
        more();
      },
    ],
  ])('one that %s is given up', async (_what, answer) => {
    pages.set('/file', answer);
    await expect(fetched('http://site.test/file', { max_bytes: 2_048 })).rejects.toMatchObject({
      type: 'OUTPUT_TOO_LARGE',
    });
  });

  it('a bomb is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000, '<p>x'));
    pages.set(
      '/bomb',
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(bomb),
    );
    await expect(fetched('http://site.test/bomb')).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
  });

  it('one that drips is given up when the time of its call is over', async () => {
    pages.set(
      '/slow',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).write('<p>'),
    );
    const tool = await prepared({ robots: 'ignore' });
    const over = new AbortController();
    const outcome = tool.execute(
      callOf({ arguments: { url: 'http://site.test/slow' }, signal: over.signal }),
      () => {},
    );
    const reason = new Error('its time is over');
    setImmediate(() => over.abort(reason));
    await expect(outcome).rejects.toBe(reason);
  });
});

it('a page that takes too much ends its thread, and the next one is read by another', async () => {
  pages.set('/bad', html(`<body>${'<p>a, b, c, d</p>'.repeat(19_000)}</body>`));
  await expect(fetched('http://site.test/bad', {}, { max_work_ms: 100 })).rejects.toMatchObject({
    type: 'PERMANENT',
    reason: 'PAGE_TOO_COMPLEX',
  });
  const tool = await prepared();
  const { data } = await tool.execute(callOf({ arguments: { url: 'http://site.test/page' } }), () => {});
  expect(data).toMatchObject({ content: 'Hello' });
});

it('a tool without the argument url is refused at load', async () => {
  const options = webPageExecutor.optionsSchema.parse({});
  const target = { function: functionOf({ inputSchema: { type: 'object' } }), options };
  await expect((async () => executor.prepare(target))()).rejects.toThrow('no property "url"');
});

it('a dry run shows the request, and sends none', async () => {
  const tool = await prepared();
  expect(tool.render?.(callOf({ arguments: { url: 'http://site.test/a b'.replace(' ', '%20') } }))).toEqual({
    method: 'GET',
    url: 'http://site.test/a%20b',
  });
  expect(asked).toEqual([]);
});
