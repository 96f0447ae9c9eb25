// Access tokens: one request for everybody, renewed before they end, and no storm on the token endpoint.
import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import { TokenSource } from './oauth-token.ts';

const SETTINGS = {
  type: 'oauth2_client_credentials' as const,
  token_url: 'https://id.example.com/token',
  client_id: 'gateway',
  client_secret: 'hunter22',
  scopes: ['read', 'write'],
  audience: 'https://api.example.com',
};
const never = new AbortController().signal;

function endpoint(settings: Partial<typeof SETTINGS & { send_secret_in: 'body' }> = {}) {
  const clock = new FakeClock();
  const asked: { readonly authorization: string | null; readonly body: string }[] = [];
  const answers: (() => Response)[] = [];
  const granted = () =>
    Response.json({ access_token: `token-${asked.length}`, token_type: 'bearer', expires_in: 1000 });
  const source = new TokenSource(
    { ...SETTINGS, ...settings },
    {
      clock,
      random: () => 0.5,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        asked.push({ authorization: request.headers.get('authorization'), body: await request.text() });
        return (answers.shift() ?? granted)();
      },
    },
  );
  return { source, clock, asked, answers, value: async () => (await source.get(never)).value };
}

const refused = (error: string) => () =>
  Response.json({ error, error_description: 'hunter22' }, { status: 401 });

describe('an access token', () => {
  it('is asked for once by all who need one, with scopes and audience', async () => {
    const { asked, value } = endpoint();
    expect(await Promise.all([value(), value(), value()])).toEqual(['token-1', 'token-1', 'token-1']);
    expect(await value()).toBe('token-1');
    expect(asked).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      audience: 'https://api.example.com',
    });
    expect(asked[0]?.authorization).toMatch(/^Basic /);
  });

  it('is asked for with the secret in the body where the provider wants it there', async () => {
    const { asked, value } = endpoint({ send_secret_in: 'body' });
    await value();
    expect(asked[0]).toMatchObject({
      authorization: null,
      body: expect.stringContaining('client_secret=hunter22'),
    });
  });

  it('is renewed at four fifths of its life, and nobody waits for that', async () => {
    const { clock, asked, value } = endpoint();
    await value();
    clock.jumpTo(clock.now() + 799_000);
    expect([await value(), asked.length]).toEqual(['token-1', 1]);
    clock.jumpTo(clock.now() + 2_000);
    expect(await value()).toBe('token-1');
    await settled();
    expect([await value(), asked.length]).toEqual(['token-2', 2]);
  });

  it('stays in use while its renewal fails, and the endpoint is left alone meanwhile', async () => {
    const { clock, asked, answers, value } = endpoint();
    await value();
    clock.jumpTo(clock.now() + 850_000);
    answers.push(() => new Response('busy', { status: 503 }));
    for (let call = 0; call < 5; call += 1) {
      expect(await value()).toBe('token-1');
      await settled();
    }
    expect(asked).toHaveLength(2);
    clock.jumpTo(clock.now() + 10_001);
    await value();
    await settled();
    expect(await value()).toBe('token-3');
  });

  it('that cannot be had is UNAVAILABLE, and so it stays for a while', async () => {
    const { clock, asked, answers, value } = endpoint();
    answers.push(() => new Response('busy', { status: 503 }));
    for (let call = 0; call < 3; call += 1) {
      await expect(value()).rejects.toMatchObject({
        type: 'UNAVAILABLE',
        reason: 'TOKEN_UNAVAILABLE',
        retryable: true,
      });
    }
    expect(asked).toHaveLength(1);
    clock.jumpTo(clock.now() + 10_001);
    expect(await value()).toBe('token-2');
  });

  it.each(['invalid_client', 'unauthorized_client'])(
    'refused as %s says that an operator must act, and not what the provider said',
    async (error) => {
      const { answers, source } = endpoint();
      answers.push(refused(error));
      const failure: unknown = await source.get(never).catch((reason: unknown) => reason);
      expect(failure).toMatchObject({
        type: 'UNAVAILABLE',
        reason: 'CREDENTIALS_REFUSED',
        retryable: false,
        partialSideEffects: false,
        message: expect.stringContaining(error),
      });
      expect(String(failure)).not.toContain('hunter22');
    },
  );

  it('that the upstream refuses is replaced once, not for every call', async () => {
    const { clock, source, asked } = endpoint();
    const first = await source.get(never);
    expect(source.refused(first)).toBe(true);
    const second = await source.get(never);
    expect(second.value).toBe('token-2');
    expect([source.refused(first), source.refused(second)]).toEqual([true, false]);
    expect(await source.get(never)).toBe(second);
    clock.jumpTo(clock.now() + 10_001);
    expect(source.refused(second)).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it('is still fetched for the others when one who waits for it has gone', async () => {
    const { source, asked } = endpoint();
    const gone = new AbortController();
    const waiting = source.get(gone.signal);
    const other = source.get(never);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect((await other).value).toBe('token-1');
    expect(asked).toHaveLength(1);
  });
});
