// What a browser brings back is anything at all: only the state that was given out, once and in its own cookie, reaches the provider.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashOf } from './connect-links.ts';
import { BrowserFlow, randomText, type BrowserFlowNeeds } from './browser-flow.ts';
import type { OAuthProvider } from '../../ports/oauth/oauth-provider.ts';
import type { Flow } from '../../ports/oauth/flow-store.ts';

const [STATE, COOKIE] = [randomText(), randomText()];
const PUBLIC = new URL('https://tools.example.com/gateway/');
const flow: Flow = {
  tenantId: 'acme', agent: 'desk', provider: 'id', idHash: 'h', kind: 'link', providerKey: 'k', scopes: [], sealed: 'v',
  createdBy: 'boss', intervalMs: 0, createdAt: new Date(0), expiresAt: new Date(0),
}; // oxfmt-ignore

function bench() {
  const taken: string[][] = [];
  const asked: { readonly state: string; readonly verifier: string; readonly redirectUri: string }[] = [];
  const provider = {
    name: 'id',
    key: 'k',
    authorizationUrl: async (request: (typeof asked)[number]) => {
      asked.push(request);
      return new URL('https://id.example.com/authorize');
    },
  } as unknown as OAuthProvider;
  const flows = {
    find: async () => flow,
    start: async () => flow,
    take: async (...by: string[]) => void taken.push(by),
  };
  const needs = {
    publicUrl: PUBLIC,
    flows,
    providers: { find: (name: string) => (name === 'id' ? provider : undefined), names: ['id'] },
    sealer: { seal: async (text: string) => text },
  } as unknown as BrowserFlowNeeds;
  return { browser: new BrowserFlow(needs), taken, asked };
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    STATE,
    `${STATE} `,
    STATE.slice(1),
    `${STATE}=`,
    STATE.toLowerCase(),
    '',
    '\0',
    `${STATE}\n`,
  ),
);
const never = async () => Promise.reject(new Error('nobody may get there'));

it('a state is looked for only as it was given out, alone, with a cookie and for a provider that is there', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('state', 'code', 'iss', 'error'), text), { maxLength: 5 }),
      fc.option(fc.oneof(text, fc.constant(COOKIE)), { nil: undefined }),
      fc.oneof(fc.constantFrom('id', 'other', '__proto__'), text),
      async (pairs, cookie, provider) => {
        const { browser, taken } = bench();
        const parameters = new URLSearchParams(pairs);
        expect(await browser.finish({ provider, parameters, browser: cookie }, never)).toBeUndefined();
        const states = parameters.getAll('state');
        const isWhole = /^[\w-]{43}$/.test(states[0] ?? '') && !/\s/.test(states[0] ?? '');
        const mayAsk =
          states.length === 1 && isWhole && /^[\w-]{43}$/.test(cookie ?? '') && provider === 'id';
        expect(taken).toEqual(mayAsk ? [[hashOf(states[0] ?? ''), hashOf(cookie ?? ''), 'id']] : []);
      },
    ),
  );
});

it('each way to a provider has a state and a verifier of its own, and comes back to its own address alone', async () => {
  const { browser, asked } = bench();
  for (let round = 0; round < 200; round += 1) await browser.begin(randomText(), COOKIE, () => undefined);
  for (const { state, verifier } of asked) {
    expect(state).toMatch(/^[\w-]{43}$/);
    // RFC 7636: 43 to 128 unreserved characters.
    expect(verifier).toMatch(/^[A-Za-z0-9._~-]{43,128}$/);
  }
  expect(new Set(asked.flatMap(({ state, verifier }) => [state, verifier])).size).toBe(400);
  expect(new Set(asked.map(({ redirectUri }) => redirectUri))).toEqual(
    new Set(['https://tools.example.com/gateway/oauth/callback/id']),
  );
});

it('a link or a cookie of another form leads nowhere', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (link, cookie) => {
      const { browser, asked } = bench();
      const isRandom = (each: string) => /^[A-Za-z0-9_-]{43}$/.test(each) && each.length === 43;
      const url = await browser.begin(link, cookie, () => undefined);
      expect(url !== undefined).toBe(isRandom(link) && isRandom(cookie));
      expect(asked).toHaveLength(url === undefined ? 0 : 1);
    }),
  );
});
