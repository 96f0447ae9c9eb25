// A gateway without credentials answers this machine alone: no web page of another origin reaches it, by whatever name.
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['test/fixtures/audit/tools.yaml'],
    settings: { auth: { mode: 'none' } },
  });
});

afterAll(() => gateway?.stop());

/** fetch sets Host and leaves out Origin by itself. */
function send(url: string, method: string, headers: Record<string, string>, body?: string) {
  return new Promise<{ status: number; text: string }>((done, fail) => {
    const sent = httpRequest(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => done({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', fail).end(body);
  });
}

const port = () => new URL(gateway.url).port;

describe('without credentials', () => {
  it.each<[string, () => Record<string, string>, string]>([
    [
      'a name that was made to lead here (DNS rebinding)',
      () => ({ host: `evil.example:${port()}` }),
      'HOST_DENIED',
    ],
    [
      'a name that only begins like ours',
      () => ({ host: `localhost.evil.example:${port()}` }),
      'HOST_DENIED',
    ],
    ['an address that is not loopback', () => ({ host: '10.0.0.1' }), 'HOST_DENIED'],
    ['a host behind a user name', () => ({ host: 'evil.example@localhost' }), 'HOST_DENIED'],
    ['a page of another site', () => ({ origin: 'https://evil.example' }), 'ORIGIN_DENIED'],
    ['a page of another port', () => ({ origin: 'http://127.0.0.1:1' }), 'ORIGIN_DENIED'],
    ['a sandboxed page', () => ({ origin: 'null' }), 'ORIGIN_DENIED'],
    ['a fetch that says it crosses sites', () => ({ 'sec-fetch-site': 'cross-site' }), 'ORIGIN_DENIED'],
    ['a fetch that says it crosses origins', () => ({ 'sec-fetch-site': 'same-site' }), 'ORIGIN_DENIED'],
  ])('%s gets nothing done, with a body or without', async (_who, headers, reason) => {
    const routes: readonly (readonly [string, string])[] = [
      ['POST', '/v1/admin/reload'],
      ['POST', '/v1/tools/echo/execute'],
      ['GET', '/v1/tools'],
      ['DELETE', '/v1/admin/recordings/x'],
      ['GET', '/no-such-route'],
    ];
    for (const [method, path] of routes) {
      for (const body of method === 'POST' ? [undefined, '{"arguments":{}}'] : [undefined]) {
        const { status, text } = await send(`${gateway.url}${path}`, method, headers(), body);
        expect([method, path, status]).toEqual([method, path, 403]);
        expect(JSON.parse(text)).toMatchObject({ code: 'PERMISSION_DENIED', reason });
      }
    }
    expect((await send(gateway.service.metricsUrl, 'GET', headers())).status).toBe(403);
  });

  it.each<[string, () => Record<string, string>]>([
    ['a client that is no browser', () => ({})],
    ['localhost by its name', () => ({ host: `localhost:${port()}` })],
    ['IPv6 loopback', () => ({ host: `[::1]:${port()}` })],
    ['the gateway’s own page', () => ({ origin: gateway.url, 'sec-fetch-site': 'same-origin' })],
    ['what a user types', () => ({ 'sec-fetch-site': 'none' })],
  ])('%s is served', async (_who, headers) => {
    expect((await send(`${gateway.url}/v1/tools`, 'GET', headers())).status).toBe(200);
    expect((await send(`${gateway.url}/v1/admin/reload`, 'POST', headers())).status).toBe(200);
  });

  it('the metrics port serves clients that are no browser', async () => {
    expect((await send(gateway.service.metricsUrl, 'GET', {})).status).toBe(200);
  });
});
