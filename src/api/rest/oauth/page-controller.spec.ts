// The pages of a browser that connects an account, behind https: whose cookie counts, who may press the button, how many at once.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { settled } from '../../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../../test/helpers/quiet-log.ts';
import { openRestDoor } from '../../../../test/helpers/rest-door.ts';
import type { OAuthBrowser } from '../../../ports/oauth/oauth-control.ts';
import { OAUTH_BROWSER } from '../../tokens.ts';

const LINK = `/oauth/connect/${'l'.repeat(43)}`;
const [ONE, TWO] = ['1'.repeat(43), '2'.repeat(43)];
const COOKIE = '__Host-ute_oauth';

let app: NestFastifyApplication;
let begun: string[];
let gate: Promise<void>;
let provider: Promise<void>;

const browser: OAuthBrowser = {
  publicUrl: new URL('https://tools.example.com/gateway'),
  async page() {
    await gate;
    return { tenantId: 'acme', agent: 'desk', provider: 'id', scopes: ['read'] };
  },
  async begin(_link, shown, found) {
    begun.push(shown);
    found();
    await provider;
    return new URL('https://id.example.com/authorize?state=x');
  },
  finish: async () => undefined,
};

beforeAll(async () => {
  ({ app } = await openRestDoor(new Map([[OAUTH_BROWSER, { browser, log: quietLog }]])));
});

afterAll(() => app.close());

beforeEach(() => {
  [begun, gate, provider] = [[], Promise.resolve(), Promise.resolve()];
});

const open = (cookie?: string) => app.inject({ url: LINK, headers: cookie === undefined ? {} : { cookie } });
const press = (headers: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url: LINK,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: '',
  });

it('the cookie is one that no other host of the domain can set, and stays the same while links are open', async () => {
  const first = String((await open()).headers['set-cookie']);
  expect(first).toMatch(/^__Host-ute_oauth=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900; Secure$/);
  const [pair = ''] = first.split(';');
  expect((await open(`other=1; ${pair}`)).headers['set-cookie']).toBe(first);
});

it.each([
  ['without the cookie', {}],
  ['with one of no such form', { cookie: `${COOKIE}=x` }],
  ['with two of the name', { cookie: `${COOKIE}=${ONE}; ${COOKIE}=${TWO}` }],
  ['with one that has no prefix', { cookie: `ute_oauth=${ONE}` }],
  ['from another origin', { cookie: `${COOKIE}=${ONE}`, origin: 'https://evil.example' }],
  ['from an origin that nobody knows', { cookie: `${COOKIE}=${ONE}`, origin: 'null' }],
  ['from another site', { cookie: `${COOKIE}=${ONE}`, 'sec-fetch-site': 'same-site' }],
] satisfies [string, Record<string, string>][])('the button does nothing %s', async (_how, headers) => {
  expect((await press(headers)).statusCode).toBe(403);
  expect(begun).toEqual([]);
});

it('the button of the page leads to the provider, and to nowhere that a request says', async () => {
  const headers = { cookie: `${COOKIE}=${ONE}`, origin: 'https://tools.example.com', host: 'evil.example' };
  const answer = await press(headers);
  expect([answer.statusCode, answer.headers['location']]).toEqual([
    303,
    'https://id.example.com/authorize?state=x',
  ]);
  expect(begun).toEqual([ONE]);
});

it('so many are looked up at once, and whoever comes then is told to come again', async () => {
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  const all = Array.from({ length: 33 }, () => open());
  await settled();
  opened.resolve();
  const statuses = (await Promise.all(all)).map(({ statusCode }) => statusCode);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 32 }, () => 200), 503]);
});

it('whoever waits for a provider keeps nobody else from a page', async () => {
  const answered = Promise.withResolvers<void>();
  provider = answered.promise;
  const headers = { cookie: `${COOKIE}=${ONE}`, origin: 'https://tools.example.com' };
  const all = Array.from({ length: 64 }, () => press(headers));
  await expect.poll(() => begun.length, { timeout: 10_000, interval: 5 }).toBe(64);
  expect((await open()).statusCode).toBe(200);
  answered.resolve();
  expect((await Promise.all(all)).map(({ statusCode }) => statusCode)).toEqual(
    Array.from({ length: 64 }, () => 303),
  );
});
