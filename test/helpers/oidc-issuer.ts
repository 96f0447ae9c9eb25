// Issuers on this machine: a real OpenID provider, and a server that publishes whatever keys a test wants.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';

export interface LocalIssuer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface OidcIssuer extends LocalIssuer {
  /** An access token for the audience, as the provider signs it, by the client credentials grant. */
  token(): Promise<string>;
}

/** It comes without types. */
const PROVIDER: string = 'oidc-provider';

const CLIENT = { id: 'backend', secret: 'a secret of this test alone' };

/** `claims` are in every access token. */
export async function startOidcProvider(audience: string, claims: object): Promise<OidcIssuer> {
  const { url, server, close } = await listening();
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const signing = { ...(await exportJWK(privateKey)), kid: 'provider', alg: 'ES256', use: 'sig' };
  const { default: Provider } = (await import(PROVIDER)) as {
    default: new (issuer: string, settings: object) => { callback(): RequestListener };
  };
  const provider = new Provider(url, {
    jwks: { keys: [signing] },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    extraTokenClaims: () => claims,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: () => ({
          scope: 'tools',
          audience,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  });
  server.on('request', provider.callback());
  return {
    url,
    close,
    async token() {
      const basic = Buffer.from(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret)}`).toString('base64');
      const response = await fetch(`${url}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
      });
      const answer = (await response.json()) as { access_token?: string };
      if (answer.access_token === undefined) throw new Error(JSON.stringify(answer));
      return answer.access_token;
    },
  };
}

/** Answers every request as it is told to at that moment. */
export async function startKeyServer(answer: RequestListener): Promise<LocalIssuer> {
  const { url, server, close } = await listening();
  server.on('request', answer);
  return { url, close };
}

async function listening(): Promise<LocalIssuer & { readonly server: Server }> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    server,
    close() {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}
