// The pack `web`, by the row D7 of its seed, over the site of examples/web and servers that mean no good.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import {
  PROVIDERS,
  SEARCH_KEY,
  startProviders,
  type Asked,
  type Provider,
} from '../helpers/search-providers.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

interface Site {
  readonly url: string;
  close(): Promise<void>;
}

const servers = new LoopbackServers();
const asked: Asked[] = [];
const dirs: string[] = [];
let site: Site;
let hostile: string;
let lights: string;
let gateway: RunningGateway;
let agent: RestTarget;

/** The pack with a provider, beside those with the others: its tools have names of their own, and its requests stay here. */
function packOf(provider: Provider, origin: string, key = SEARCH_KEY, prefix: string = provider): object {
  const dir = tempDir();
  dirs.push(dir);
  cpSync(resolve('packs/web'), dir, { recursive: true });
  for (const file of ['search.yaml', `${provider}.yaml`, 'handlers/search_web.js']) {
    const text = readFileSync(join(dir, file), 'utf8')
      .replaceAll(/https:\/\/api\.(?:search\.brave|tavily)\.com/g, origin)
      .replaceAll(/\$\{env:SEARXNG_URL\}/g, origin)
      .replaceAll(/\$\{env:[A-Z_]*KEY\}/g, key)
      .replaceAll(/(?<!handlers\/)(?=search_web\n|web_search)/g, `${prefix}_`);
    writeFileSync(join(dir, file), text);
  }
  return {
    type: 'pack',
    name: 'web',
    path: dir,
    choose: { search: provider },
    connections: { web_apis: 'apis' },
    overrides: { fetch_url: { off: true }, api_call: { off: true } },
  };
}

const TOOLS = (origin: string) => ({
  connections: {
    apis: {
      type: 'http-hosts',
      hosts: [
        {
          base_url: `${origin}/lights`,
          methods: ['GET', 'POST'],
          caller_headers: ['X-Room'],
          auth: { type: 'bearer', token: 'token-of-the-lights' },
        },
      ],
    },
  },
  tools: [],
});

beforeAll(async () => {
  const { href } = new URL('../../examples/web/site.js', import.meta.url);
  const { startSite } = (await import(href)) as { startSite: () => Promise<Site> };
  site = await startSite();
  hostile = await servers.http((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    if (request.url === '/deep')
      return response.setHeader('content-type', 'text/html').end('<div>'.repeat(100_000));
    return response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
  });
  lights = await servers.http((request, response) => {
    const { method, url, headers } = request;
    if (url === '/lights/away') return response.writeHead(307, { location: `${hostile}/` }).end();
    response.setHeader('content-type', 'application/json');
    return response.end(
      JSON.stringify({ method, url, room: headers['x-room'] ?? null, by: headers.authorization }),
    );
  });
  const providers = await startProviders(servers, asked);
  const own = tempDir();
  dirs.push(own);
  writeFileSync(join(own, 'tools.yaml'), JSON.stringify(TOOLS(lights)));
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [
        { type: 'yaml-file', paths: [join(own, 'tools.yaml')] },
        { type: 'pack', name: 'web', connections: { web_apis: 'apis' } },
        ...PROVIDERS.map((provider) => packOf(provider, providers[provider])),
        packOf('tavily', providers.tavily, 'a-key-that-is-wrong', 'refused'),
      ],
      executors: {
        'web-page': {
          allow_private: ['127.0.0.0/8'],
          allow_ports: [site.url, hostile].map((url) => Number(new URL(url).port)),
        },
        http: {
          allow_private: ['127.0.0.0/8'],
          allow_ports: [lights, ...Object.values(providers)].map((url) => Number(new URL(url).port)),
        },
      },
    },
  });
  agent = targetOf(gateway, 'agent');
});
afterAll(async () => {
  await gateway?.stop();
  await site?.close();
  await servers.close();
  for (const dir of dirs) removeDir(dir);
});

const fetchUrl = async (url: string, more: object = {}) =>
  (await callTool(agent, 'fetch_url', { url, ...more })).body;

describe('D7: fetch_url', () => {
  it('answers with the main text of the page, marked as what anybody may have written', async () => {
    const body = await fetchUrl(`${site.url}/old`);
    expect(body).toMatchObject({
      ok: true,
      data: {
        url: `${site.url}/guide`,
        requested_url: `${site.url}/old`,
        title: 'Lighthouses',
        language: 'en',
        format: 'markdown',
      },
      meta: { untrusted: true },
    });
    const { content } = body.data as { content: string };
    expect(content).toContain(`[Tower of Hercules](${site.url}/hercules)`);
    expect(content).toContain('| Hercules | 55 m |');
    expect(content).not.toContain('Shop');
  });

  it('what a page hides does not reach the model, on the whole page either', async () => {
    const body = await fetchUrl(`${site.url}/guide`, { whole_page: true });
    expect(body).toMatchObject({ ok: true });
    expect(JSON.stringify(body)).toContain('Shop');
    expect(JSON.stringify(body)).not.toContain('delete_note');
  });

  it.each([
    ['/private', 'ROBOTS_DENIED'],
    ['/plan.pdf', 'PAGE_NOT_TEXT'],
    ['/nothing', 'HTTP_404'],
  ])('%s is refused: %s, marked as well', async (path, reason) => {
    expect(await fetchUrl(site.url + path)).toMatchObject({
      ok: false,
      error: { reason, partial_side_effects: false },
      meta: { untrusted: true },
    });
  });

  it.each([
    'http://169.254.169.254/latest/',
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://127.0.0.1:9/',
  ])('%s is not reached, and the answer does not tell what is there', async (url) => {
    const body = await fetchUrl(url);
    expect(body).toMatchObject({ ok: false, error: { reason: 'EGRESS_DENIED' } });
  });

  it('a redirect to a private address is not followed, and a page that is nested without end is read', async () => {
    expect(await fetchUrl(`${hostile}/go`)).toMatchObject({ ok: false, error: { reason: 'EGRESS_DENIED' } });
    expect(await fetchUrl(`${hostile}/deep`)).toMatchObject({ ok: true, data: { format: 'text' } });
  });

  it.each([{ url: 7 }, { url: 'x'.repeat(3_000) }, {}, { url: 'https://a.example', max_characters: 1 }])(
    'arguments that do not fit reach nothing: %j',
    async (args) => {
      const { body } = await callTool(agent, 'fetch_url', args);
      expect(body).toMatchObject({ ok: false, error: { type: 'VALIDATION' } });
    },
  );
});

describe.each(PROVIDERS)('D7: search_web by %s', (provider) => {
  const search = async (said: object) => (await callTool(agent, `${provider}_search_web`, said)).body;

  it('answers with title, URL and snippet, in one form, marked as what anybody may have written', async () => {
    const body = await search({ query: 'old towers', limit: 4 });
    const { results } = body.data as { results: object[] };
    expect({ ...body, data: { results: results.slice(0, 2) } }).toMatchObject({
      ok: true,
      data: {
        results: [
          { title: 'Towers & lights', url: 'https://towers.example/a', snippet: 'The oldest one.' },
          {
            title: 'https://towers.example/b',
            url: 'https://towers.example/b',
            snippet: `${'y'.repeat(1_000)}…`,
          },
        ],
      },
      meta: { untrusted: true },
    });
    expect(asked.at(-1)).toMatchObject({ provider, query: 'old towers' });
  });

  it('gives no more than were asked for, five where nothing is said, and an empty list for nothing', async () => {
    const { data } = await search({ query: 'towers' });
    expect((data as { results: object[] }).results.length).toBeLessThanOrEqual(5);
    expect(await search({ query: 'nothing' })).toMatchObject({ ok: true, data: { results: [] } });
  });

  it.each([{}, { query: '' }, { query: 'x'.repeat(401) }, { query: 'x', limit: 21 }])(
    'refuses %j',
    async (said) => {
      expect(await search(said)).toMatchObject({ ok: false, error: { type: 'VALIDATION' } });
    },
  );

  it('what is in a query stays in it', async () => {
    const query = 'a&format=html&q=b#c\r\nX: y';
    expect(await search({ query })).toMatchObject({ ok: true });
    expect(asked.at(-1)).toMatchObject({ provider, query });
  });
});

describe('D7: search_web', () => {
  it('says that the provider does not take the key, and does not show it', async () => {
    const { body } = await callTool(agent, 'refused_search_web', { query: 'x' });
    expect(body).toMatchObject({ ok: false, error: { type: 'AUTH' } });
    expect(JSON.stringify(body)).not.toContain('a-key-that-is-wrong');
  });

  it('the request behind it is no tool of its own', async () => {
    const { body } = await callTool(agent, 'brave_web_search_api', { query: 'x', limit: 1 });
    expect(body).toMatchObject({ ok: false, error: { type: 'NOT_FOUND' } });
  });
});

describe('D7: api_call', () => {
  const call = async (said: object) => (await callTool(agent, 'api_call', said)).body;

  it('makes the request to a listed place, with its credential, which nobody sees', async () => {
    const said = {
      url: `${lights}/lights/off?all=1`,
      method: 'POST',
      headers: { 'X-Room': 'hall' },
      body: { in: 5 },
    };
    expect(await call(said)).toMatchObject({
      ok: true,
      data: { method: 'POST', url: '/lights/off?all=1', room: 'hall', by: 'Bearer [secret]' },
      meta: { untrusted: true },
    });
  });

  it.each([
    ['another place', { url: 'http://169.254.169.254/latest' }, 'EGRESS_DENIED'],
    ['a way out of its path', { url: 'LIGHTS/lights/../keys' }, 'EGRESS_DENIED'],
    ['a hidden way out', { url: 'LIGHTS/lights/..%2fkeys' }, 'UNSAFE_ARGUMENT'],
    ['a method that is not listed', { url: 'LIGHTS/lights/1', method: 'DELETE' }, 'UNSAFE_ARGUMENT'],
    [
      'a header that is not listed',
      { url: 'LIGHTS/lights/1', headers: { Authorization: 'x' } },
      'UNSAFE_ARGUMENT',
    ],
    [
      'a line end in a header',
      { url: 'LIGHTS/lights/1', headers: { 'X-Room': 'a\r\nb: c' } },
      'UNSAFE_ARGUMENT',
    ],
    ['a redirect', { url: 'LIGHTS/lights/away' }, 'REDIRECT_REFUSED'],
    ['a method that is none', { url: 'LIGHTS/lights/1', method: 'TRACE' }, 'SCHEMA_MISMATCH'],
  ])('%s is refused', async (_what, said, reason) => {
    const body = await call({ ...said, url: said.url.replace('LIGHTS', lights) });
    expect(body).toMatchObject({ ok: false, error: { reason } });
    expect(JSON.stringify(body)).not.toContain('token-of-the-lights');
  });
});
