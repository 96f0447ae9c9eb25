// A gateway without credentials answers this machine alone: no web page of another origin reaches it, by whatever name.
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
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

  it.each<[string, Record<string, string>]>([
    ['a picture', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['a fetch', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    [
      'a fetch that says its origin',
      { origin: 'https://evil.example', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    ],
    ['a frame', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['a browser that says the site alone', { 'sec-fetch-site': 'same-site' }],
  ])('%s of another site reaches no page of OAuth either', async (_what, headers) => {
    for (const path of ['/oauth/connect/x', '/oauth/callback/x?state=y', '/oauth/callback/../../v1/tools']) {
      const { status, text } = await send(`${gateway.url}${path}`, 'GET', headers);
      expect([path, status, JSON.parse(text)]).toMatchObject([path, 403, { reason: 'ORIGIN_DENIED' }]);
    }
  });

  it('a human who follows a link of another site is shown the page of OAuth, and may not post from there', async () => {
    const headers = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    expect((await send(`${gateway.url}/oauth/connect/x`, 'GET', headers)).status).toBe(404);
    expect((await send(`${gateway.url}/oauth/callback/x`, 'GET', headers)).status).toBe(400);
    expect((await send(`${gateway.url}/oauth/connect/x`, 'POST', headers)).status).toBe(403);
    expect((await send(`${gateway.url}/v1/tools`, 'GET', headers)).status).toBe(403);
    const foreign = { ...headers, host: `evil.example:${port()}` };
    expect((await send(`${gateway.url}/oauth/callback/x`, 'GET', foreign)).status).toBe(403);
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

/** What fetch and node:http would not send. */
function sendRaw(url: string, head: readonly string[]): Promise<string> {
  const { hostname, port: at } = new URL(url);
  return new Promise((done, fail) => {
    let answer = '';
    const socket = connect(Number(at), hostname, () => socket.write(`${head.join('\r\n')}\r\n\r\n`));
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.once('close', () => done(answer)).once('error', fail);
  });
}

describe('a request that is for two hosts is refused', () => {
  const own = () => `host: 127.0.0.1:${port()}`;
  it.each<[string, () => readonly string[]]>([
    [
      'another one second',
      () => ['GET /v1/tools HTTP/1.1', own(), 'host: evil.example', 'connection: close'],
    ],
    ['another one first', () => ['GET /v1/tools HTTP/1.1', 'Host: evil.example', own(), 'connection: close']],
    ['the same twice', () => ['GET /v1/tools HTTP/1.1', own(), own(), 'connection: close']],
    ['one in its target', () => ['GET http://evil.example/v1/tools HTTP/1.1', own(), 'connection: close']],
    ['a route that is not there', () => ['GET http://evil.example/x HTTP/1.1', own(), 'connection: close']],
  ])('%s', async (_what, head) => {
    const answer = await sendRaw(gateway.url, head());
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"reason":"HOST_UNCLEAR"');
  });

  it('on the metrics port as well', async () => {
    const head = (target: string, ...hosts: readonly string[]) => [
      `GET ${target} HTTP/1.1`,
      ...hosts,
      'connection: close',
    ];
    const { metricsUrl } = gateway.service;
    expect(await sendRaw(metricsUrl, head('/metrics', 'host: localhost'))).toMatch(/^HTTP\/1\.1 200 /);
    for (const said of [
      head('/metrics', 'host: localhost', 'host: evil.example'),
      head('http://evil.example/metrics', 'host: localhost'),
    ]) {
      expect(await sendRaw(metricsUrl, said)).toMatch(/^HTTP\/1\.1 400 /);
    }
  });
});
