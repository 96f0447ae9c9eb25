// What gateway.yaml may say about OAuth providers: where agents' accounts are connected, and which hosts their tokens may go to.
import { z } from 'zod';
import { egressFault, egressFields, egressOf, hostPatternProblem } from '../lib/egress/egress.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** Names of the parameters that the gateway sets itself. */
const OWN_PARAMETERS = new Set(
  (
    'response_type client_id redirect_uri state scope code_challenge code_challenge_method response_mode ' +
    'request request_uri client_secret nonce'
  ).split(' '),
);

/** https, or http on loopback. */
export const endpoint = z
  .string()
  .max(2_048)
  .superRefine((text, context) => {
    const message = oauthUrlProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const hostPattern = z.string().superRefine((text, context) => {
  const message = hostPatternProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const scope = z
  .string()
  .max(512)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be one scope: printable ASCII without spaces, quotes and "\\"');

const parameters = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,64}$/)
      .refine((name) => !OWN_PARAMETERS.has(name), 'is set by the gateway itself'),
    z.string().max(1_000),
  )
  .default({});

const provider = z
  .strictObject({
    issuer: endpoint
      .optional()
      .describe(
        'Its identifier, letter by letter. Where the endpoints are not said, its discovery document names them.',
      ),
    authorization_endpoint: endpoint.optional().describe('Where a human agrees, in a browser.'),
    token_endpoint: endpoint.optional().describe('Where codes and refresh tokens are exchanged.'),
    device_authorization_endpoint: endpoint.optional().describe('For the device flow (RFC 8628).'),
    revocation_endpoint: endpoint.optional().describe('Where tokens are taken back (RFC 7009).'),
    client_id: z.string().min(1).max(512).describe('As the provider has registered this gateway.'),
    client_secret: z
      .string()
      .regex(/^\$\{(env|file):[^}]+\}$/, 'must be a reference: ${env:NAME} or ${file:path}')
      .optional()
      .describe('`${env:NAME}` or `${file:path}`, read at the start. Left out: a public client.'),
    token_endpoint_auth_method: z
      .enum(['client_secret_basic', 'client_secret_post', 'none'])
      .optional()
      .describe('How the client shows its secret: client_secret_basic, or none where there is no secret.'),
    scopes: z
      .array(scope)
      .max(100)
      .default([])
      .describe('Asked for at every connection, beside those of the tools.'),
    authorization_parameters: parameters.describe(
      'More for the authorization endpoint, such as {access_type: offline, prompt: consent}.',
    ),
    hosts: z
      .array(hostPattern)
      .min(1)
      .max(100)
      .describe(
        'Where access tokens may be sent: "www.googleapis.com", "*.example.com". A tool that calls any other host is refused at load.',
      ),
    handlers: z
      .boolean()
      .default(false)
      .describe(
        'Whether tools that run code (javascript, python …) may be given the token: hosts cannot hold those.',
      ),
    ...egressFields,
  })
  .superRefine((said, context) => {
    for (const { path, message } of providerProblems(said))
      context.addIssue({ code: 'custom', path: [...path], message });
  });

export type OAuthProviderSettings = z.output<typeof provider>;

export const oauth = z
  .strictObject({
    public_url: endpoint
      .refine((text) => !text.includes('?'), 'must have no query')
      .optional()
      .describe(
        'Where browsers reach this gateway. Redirect URIs are <public_url>/oauth/callback/<provider>.',
      ),
    providers: z
      .record(
        z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 lower-case letters, digits, _ or -'),
        provider,
      )
      .default({})
      .describe('By the name that tools use in auth.provider.'),
  })
  .describe('Accounts that agents are connected to: docs/oauth.md.');

export type OAuthSettings = z.output<typeof oauth>;

interface Fault {
  readonly path: readonly string[];
  readonly message: string;
}

interface Said {
  readonly issuer?: string | undefined;
  readonly authorization_endpoint?: string | undefined;
  readonly token_endpoint?: string | undefined;
  readonly device_authorization_endpoint?: string | undefined;
  readonly revocation_endpoint?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
  readonly allow_hosts?: readonly string[] | undefined;
}

function* providerProblems(said: Said): Generator<Fault> {
  const { issuer, authorization_endpoint: authorization, token_endpoint: token } = said;
  if (issuer === undefined && (authorization === undefined || token === undefined))
    yield { path: ['issuer'], message: 'is needed, or authorization_endpoint and token_endpoint' };
  if ((authorization === undefined) !== (token === undefined))
    yield { path: ['token_endpoint'], message: 'give authorization_endpoint and token_endpoint, or neither' };
  const { client_secret: secret, token_endpoint_auth_method: method } = said;
  if (method === 'none' && secret !== undefined)
    yield {
      path: ['client_secret'],
      message: 'is shown to nobody with token_endpoint_auth_method none: keep one',
    };
  if (method !== undefined && method !== 'none' && secret === undefined)
    yield { path: ['client_secret'], message: `is needed for token_endpoint_auth_method ${method}` };
  yield* hostProblems(said);
}

/** Of the endpoints that the gateway itself calls. */
function* hostProblems({ allow_hosts: allowHosts, ...said }: Said): Generator<Fault> {
  if (allowHosts === undefined) return;
  for (const name of ['token_endpoint', 'device_authorization_endpoint', 'revocation_endpoint'] as const) {
    const url = URL.parse(said[name] ?? '');
    if (url === null || egressFault({ ...egressOf({}, url), allowHosts }, url) !== 'host') continue;
    yield { path: ['allow_hosts'], message: `must name the host of ${name} as well: ${url.host}` };
  }
}

/** Of an address that credentials go to; undefined: it is one. */
export function oauthUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'must be an https URL';
  if (url.username !== '' || url.password !== '' || text.includes('#'))
    return 'must be a URL without user, password and fragment';
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  return isSafe ? undefined : 'must be an https URL (http on loopback alone)';
}
