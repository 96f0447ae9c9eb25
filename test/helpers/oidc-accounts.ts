// A real OpenID provider on this machine where somebody has an account: they log in and agree to whatever is asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';

/** It comes without types. */
const PROVIDER: string = 'oidc-provider';

export const CLIENT = { id: 'gateway', secret: 'the-secret-of-this-client' };

export interface AccountsProvider {
  readonly url: string;
  /** Answers the next authorization with this instead of agreeing; undefined: agrees. */
  denyWith: string | undefined;
  /** Requests to its token endpoint so far. */
  readonly tokenRequests: () => number;
  /** Tokens that it was asked to take back so far. */
  readonly revocations: () => number;
  /** The next request to its token endpoint is answered only once it is released; `asked`: it is there. */
  holdTokens(): { readonly asked: Promise<void>; release(): void };
  /** Whatever was granted is void from now on. */
  revokeAll(): Promise<void>;
  close(): Promise<void>;
}

type Provider = {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
};

interface Context {
  readonly oidc: {
    readonly provider: { readonly Grant: new (of: object) => Grant };
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly params: { readonly scope?: string };
    readonly account?: { readonly accountId: string };
  };
}
interface Grant {
  readonly jti: string;
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
  destroy(): Promise<void>;
}

export async function startAccounts(redirectUris: readonly string[]): Promise<AccountsProvider> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const signing = { ...(await exportJWK(privateKey)), kid: 'accounts', alg: 'ES256', use: 'sig' };
  const { default: Made } = (await import(PROVIDER)) as {
    default: new (issuer: string, settings: object) => Provider;
  };
  const grants: Grant[] = [];
  let [tokenRequests, revocations] = [0, 0];
  let held: { readonly asked: () => void; readonly released: Promise<void> } | undefined;
  const provider = new Made(url, {
    jwks: { keys: [signing] },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        redirect_uris: redirectUris,
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    scopes: ['openid', 'offline_access', 'calendar.read', 'calendar.write'],
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }: Context) {
      const accountId = oidc.account?.accountId ?? oidc.session.accountId;
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId });
      grant.addOIDCScope(oidc.params.scope ?? '');
      await grant.save();
      grants.push(grant);
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
    },
  });
  const answer = provider.callback();
  const accounts: AccountsProvider = {
    url,
    denyWith: undefined,
    tokenRequests: () => tokenRequests,
    revocations: () => revocations,
    holdTokens() {
      const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { asked: asked.resolve, released: released.promise };
      return { asked: asked.promise, release: released.resolve };
    },
    async revokeAll() {
      for (const grant of grants.splice(0)) await grant.destroy();
    },
    close() {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
  server.on('request', (request, response) => {
    const isToken = request.url === '/token';
    if (isToken) tokenRequests += 1;
    if (request.url?.startsWith('/token/revocation') === true) revocations += 1;
    if (isToken && held !== undefined) {
      const { asked, released } = held;
      held = undefined;
      asked();
      return void released.then(() => answer(request, response));
    }
    if (request.url?.startsWith('/interaction/') !== true) return answer(request, response);
    const { denyWith } = accounts;
    const result =
      denyWith === undefined
        ? { login: { accountId: 'ann' }, consent: {} }
        : { error: 'access_denied', error_description: denyWith };
    void provider.interactionFinished(request, response, result);
  });
  return accounts;
}

/** A browser as far as this needs one: cookies by host and port, redirects one by one. */
export class TestBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async send(
    method: string,
    url: string,
    { form, headers = {} }: { form?: Record<string, string>; headers?: Record<string, string> } = {},
  ): Promise<Response & { readonly text: () => Promise<string> }> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(cookie !== '' && { cookie }) },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  }

  /** Goes on as long as it is sent on, but never to where `stop` says so. Gives where it ended. */
  async follow(
    first: Response,
    from: string,
    stop: (url: string) => boolean = () => false,
  ): Promise<{ readonly url: string; readonly response: Response }> {
    let [response, url] = [first, from];
    for (let hops = 0; hops < 20; hops += 1) {
      const location = response.headers.get('location');
      if (location === null) return { url, response };
      url = new URL(location, url).href;
      if (stop(url)) return { url, response };
      response = await this.send('GET', url);
    }
    throw new Error(`too many redirects, the last to ${url}`);
  }

  /** Fills in the first form of a page: its hidden fields, and what is given. */
  async submit(page: string, url: string, fields: Record<string, string> = {}): Promise<Response> {
    const action = /<form[^>]*\saction="([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    const hidden = [...page.matchAll(/<input[^>]*>/g)].flatMap(([input]) => {
      const name = /\sname="([^"]*)"/.exec(input)?.[1];
      const value = /\svalue="([^"]*)"/.exec(input)?.[1] ?? '';
      return name === undefined ? [] : [[name, value] as const];
    });
    const target = new URL(action ?? '', url).href;
    return this.send('POST', target, { form: { ...Object.fromEntries(hidden), ...fields } });
  }
}
