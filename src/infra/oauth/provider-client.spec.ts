// ProviderClient: what is asked of an authorization server, and what is taken of what it answers. Its answers are not trusted.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { EgressPolicy, HttpClient } from '../../ports/egress/http-client.ts';
import { GrantRefused } from '../../ports/oauth/oauth-provider.ts';
import { oauth } from '../../settings/oauth-settings.ts';
import { ProviderClient } from './provider-client.ts';

const ISSUER = 'https://id.example.com';
const DOCUMENT = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize?tenant=7`,
  token_endpoint: `${ISSUER}/token`,
  device_authorization_endpoint: `${ISSUER}/device`,
  code_challenge_methods_supported: ['S256'],
};
const TOKEN = { access_token: 'an-access-token', token_type: 'Bearer', expires_in: 3600 };
const STATE = 's'.repeat(43);
const VERIFIER = 'v'.repeat(43);

function kit(changes: object = {}, document: object = DOCUMENT) {
  const asked: {
    readonly url: string;
    readonly body: URLSearchParams;
    readonly authorization: string | null;
  }[] = [];
  const answers: unknown[] = [];
  let egress: EgressPolicy | undefined;
  const http: HttpClient = {
    request: () => Promise.reject(new Error('nobody asks that way')),
    close: async () => undefined,
    fetch: (policy) => {
      egress = policy;
      return async (input, init) => {
        const request = new Request(input, init);
        if (request.url.includes('.well-known')) return Response.json(document);
        const body = new URLSearchParams(await request.text());
        asked.push({ url: request.url, body, authorization: request.headers.get('authorization') });
        const answer = answers.shift() ?? TOKEN;
        return answer instanceof Response ? answer : Response.json(answer);
      };
    },
  };
  const { providers } = oauth.parse({
    providers: {
      id: {
        issuer: ISSUER,
        client_id: 'gateway',
        client_secret: '${env:SECRET}',
        hosts: ['api.example.com'],
        authorization_parameters: { access_type: 'offline' },
        ...changes,
      },
    },
  });
  const settings = providers['id'];
  if (settings === undefined) throw new Error('there is no provider');
  const client = new ProviderClient({
    name: 'id',
    settings,
    clientSecret: 'hunter22',
    http,
    clock: new FakeClock(),
  });
  const exchange = (parameters: Record<string, string>) =>
    client.exchange({
      parameters: new URLSearchParams({ code: 'c', state: STATE, ...parameters }),
      state: STATE,
      redirectUri: 'https://gw.example.com/oauth/callback/id',
      verifier: VERIFIER,
    });
  return { client, asked, answers, exchange, egress: () => egress };
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the authorization request', () => {
  it('asks for a code, with PKCE by S256, state and the exact redirect URI', async () => {
    const { client } = kit();
    const url = await client.authorizationUrl({
      redirectUri: 'https://gw.example.com/oauth/callback/id',
      state: STATE,
      verifier: VERIFIER,
      scopes: ['a', 'b c'],
    });
    expect(url.origin + url.pathname).toBe(`${ISSUER}/authorize`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      tenant: '7',
      access_type: 'offline',
      response_type: 'code',
      client_id: 'gateway',
      redirect_uri: 'https://gw.example.com/oauth/callback/id',
      state: STATE,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    });
    expect(url.href).not.toContain(VERIFIER);
  });

  it.each([
    ['takes no S256', { code_challenge_methods_supported: ['plain'] }],
    ['is of another issuer', { issuer: 'https://evil.example' }],
    ['has its codes exchanged in the clear', { token_endpoint: 'http://id.example.com/token' }],
    ['leads browsers to a script', { authorization_endpoint: 'javascript:alert(1)' }],
  ])('is not made where the discovery document %s', async (_what, changes) => {
    const { client } = kit({}, { ...DOCUMENT, ...changes });
    const request = { redirectUri: 'https://gw.example.com/x', state: STATE, verifier: VERIFIER, scopes: [] };
    expect(await failureOf(client.authorizationUrl(request))).toMatchObject({ reason: 'TOKEN_UNAVAILABLE' });
  });
});

describe('the exchange of a code', () => {
  it('takes no scope that RFC 6749 does not know: people read them in terminals', async () => {
    const { exchange, answers } = kit();
    answers.push({ ...TOKEN, scope: 'a \u001b[2J \u202eb \u0000 c\n "d" e' });
    expect((await exchange({ iss: ISSUER })).scopes).toEqual(['a', 'e']);
  });

  it('shows the verifier and the redirect URI, and gives the tokens', async () => {
    const { exchange, asked, answers } = kit();
    answers.push({ ...TOKEN, refresh_token: 'r', scope: 'a b' });
    expect(await exchange({ iss: ISSUER })).toEqual({
      accessToken: 'an-access-token',
      refreshToken: 'r',
      expiresInS: 3600,
      scopes: ['a', 'b'],
    });
    expect(Object.fromEntries(asked[0]?.body ?? [])).toMatchObject({
      grant_type: 'authorization_code',
      code: 'c',
      code_verifier: VERIFIER,
      redirect_uri: 'https://gw.example.com/oauth/callback/id',
    });
    expect(asked[0]?.authorization).toMatch(/^Basic /);
  });

  it.each([
    ['of another issuer', { iss: 'https://evil.example' }, 'invalid_response'],
    ['with another state', { state: 'x'.repeat(43) }, 'invalid_response'],
    ['that says no', { error: 'access_denied', error_description: '<b>' }, 'access_denied'],
    ['that says no in HTML', { error: '<script>' }, 'other'],
  ])('is not made for an answer %s', async (_what, parameters, code) => {
    const { exchange, asked } = kit();
    const failure = await failureOf(exchange(parameters));
    expect([failure instanceof GrantRefused && failure.code, asked]).toEqual([code, []]);
  });

  it('needs iss where the provider says that it sends it', async () => {
    const { exchange, asked } = kit(
      {},
      { ...DOCUMENT, authorization_response_iss_parameter_supported: true },
    );
    expect(await failureOf(exchange({}))).toBeInstanceOf(GrantRefused);
    expect(asked).toEqual([]);
  });
});

describe('what is taken for a token', () => {
  it.each([
    ['no bearer token', { token_type: 'dpop' }],
    ['one that would end a header', { access_token: 'a\r\nX-Evil: 1' }],
    ['one with spaces', { access_token: 'a b' }],
    ['an empty one', { access_token: '' }],
    ['one that is no text', { access_token: { a: 1 } }],
    ['one without end', { access_token: 'a'.repeat(20_000) }],
    ['a refresh token that would end a header', { refresh_token: 'a\nb' }],
  ])('is not %s', async (_what, changes) => {
    const { client, answers } = kit();
    answers.push({ ...TOKEN, ...changes });
    const failure = await failureOf(client.refresh('r'));
    expect(failure).toMatchObject({ reason: 'TOKEN_UNAVAILABLE', partialSideEffects: false });
    expect((failure as Error).message).not.toContain('Evil');
  });

  it.each([
    [1e12, 366 * 86_400],
    [undefined, undefined],
  ])('lives no longer than a year: %s', async (said, lives) => {
    const { client, answers } = kit();
    answers.push({ ...TOKEN, expires_in: said });
    expect(await client.refresh('r')).toMatchObject({ expiresInS: lives });
  });

  it('has no negative life', async () => {
    const { client, answers } = kit();
    answers.push({ ...TOKEN, expires_in: -5 });
    expect(await failureOf(client.refresh('r'))).toMatchObject({ reason: 'TOKEN_UNAVAILABLE' });
  });
});

describe('a refusal', () => {
  const refused = (error: string, status = 400) =>
    Response.json({ error, error_description: 'hunter22 and more' }, { status });

  it.each([
    ['invalid_grant', 'GrantRefused'],
    ['invalid_client', 'CREDENTIALS_REFUSED'],
    ['temporarily_unavailable', 'TOKEN_UNAVAILABLE'],
  ])('%s is told for what it is, and nothing else of it', async (error, what) => {
    const { client, answers } = kit();
    answers.push(refused(error));
    const failure = await failureOf(client.refresh('r'));
    expect(failure instanceof ToolFailure ? failure.reason : (failure as Error).name).toBe(what);
    const { cause } = failure as Error;
    expect(`${String(failure)} ${String(cause)} ${JSON.stringify(cause ?? null)}`).not.toContain('hunter22');
  });

  it('a page of errors is a provider that cannot be asked', async () => {
    const { client, answers } = kit();
    answers.push(new Response('<html>', { status: 502 }));
    expect(await failureOf(client.refresh('r'))).toMatchObject({
      reason: 'TOKEN_UNAVAILABLE',
      retryable: true,
    });
  });
});

describe('the device flow', () => {
  const started = {
    device_code: 'd',
    user_code: 'ABCD-EFGH',
    verification_uri: 'https://id.example.com/device',
    expires_in: 99_999,
    interval: 1,
  };

  it('leaves the provider at least five seconds between two questions', async () => {
    const { client, answers } = kit();
    answers.push(started);
    expect(await client.startDevice(['a'])).toMatchObject({
      userCode: 'ABCD-EFGH',
      intervalS: 5,
      expiresInS: 1_800,
    });
  });

  it('writes addresses as URLs are written: nothing in them turns text around or moves a cursor', async () => {
    const { client, answers } = kit();
    const uri = 'https://id.example.com/\u001b[2Ja\nb\u202ec';
    answers.push({ ...started, verification_uri: uri, verification_uri_complete: uri });
    const shown = await client.startDevice([]);
    for (const each of [shown?.verificationUri, shown?.verificationUriComplete])
      expect(each).toBe('https://id.example.com/%1B[2Jab%E2%80%AEc');
  });

  it.each([
    ['an address that is a script', { verification_uri: 'javascript:alert(1)' }],
    ['a complete address that is a script', { verification_uri_complete: 'data:text/html,x' }],
    ['a code that hides something', { user_code: 'A\u202eB' }],
  ])('shows no human %s', async (_what, changes) => {
    const { client, answers } = kit();
    answers.push({ ...started, ...changes });
    expect(await failureOf(client.startDevice([]))).toMatchObject({ reason: 'TOKEN_UNAVAILABLE' });
  });

  it('waits as long as the provider says pending, and ends with its refusal', async () => {
    const { client, answers } = kit();
    const says = (error: string) => Response.json({ error }, { status: 400 });
    answers.push(says('authorization_pending'), says('slow_down'), says('expired_token'));
    expect([await client.pollDevice('d'), await client.pollDevice('d')]).toEqual(['pending', 'slow_down']);
    expect(await failureOf(client.pollDevice('d'))).toMatchObject({ code: 'expired_token' });
  });
});

it('goes to the hosts of its own addresses alone', () => {
  expect(kit().egress()?.allowHosts).toEqual(['id.example.com:443']);
});

it('another issuer or client under the same name has another key', () => {
  const keys = [{}, { client_id: 'other' }, { issuer: 'https://else.example.com' }].map(
    (each) => kit(each).client.key,
  );
  expect(new Set(keys).size).toBe(3);
});
