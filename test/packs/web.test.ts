// The pack `web`, by the row D7 of its seed, over the site of examples/web and servers that mean no good.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

interface Site {
  readonly url: string;
  close(): Promise<void>;
}

const servers = new LoopbackServers();
let site: Site;
let hostile: string;
let gateway: RunningGateway;
let agent: RestTarget;

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
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [{ type: 'pack', name: 'web' }],
      executors: {
        'web-page': {
          allow_private: ['127.0.0.0/8'],
          allow_ports: [site.url, hostile].map((url) => Number(new URL(url).port)),
        },
      },
    },
  });
  agent = targetOf(gateway, 'agent');
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await site?.close();
  await servers.close();
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
