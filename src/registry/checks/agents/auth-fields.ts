// The credential that a tool asks of its agents: `auth`, or requires_auth, auth_type and auth_config as older definitions have it.
import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import type { ManagedAuth, ToolAuth } from '../../../contract/tool/tool-spec.ts';
import { didYouMean } from '../../../lib/text/did-you-mean.ts';
import type { SpecRules } from '../../spec-rules.ts';
import type { Fault } from '../../../lib/faults/faults.ts';

const sentence = z.string().min(1);
const webUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https URL' });

const auth = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('oauth2'),
    provider: sentence.describe(
      'One of oauth.providers in gateway.yaml: the gateway then obtains the tokens. Any other: its name, for operators.',
    ),
    auth_url: webUrl
      .optional()
      .describe(
        'Where the account is asked for consent. Needed where gateway.yaml does not have the provider.',
      ),
    token_url: webUrl
      .optional()
      .describe('Where codes and refresh tokens are exchanged. Needed as auth_url is.'),
    scopes: z.array(sentence).default([]).describe('What is asked for.'),
  }),
  z.strictObject({
    type: z.literal('api_key'),
    provider: sentence.optional().describe('Name of the provider, for operators.'),
  }),
]);

export const authFields = {
  auth: auth
    .optional()
    .describe(
      'The credential that each agent needs: access_token (oauth2) or api_key. Without it, no call. It is set in sensitive_config, or obtained from a provider of gateway.yaml.',
    ),
  requires_auth: z
    .boolean()
    .optional()
    .describe('The older spelling of auth, with auth_type and auth_config.'),
  auth_type: z
    .enum(['oauth2', 'api_key'])
    .nullish()
    .describe('With requires_auth. Left out: any secret will do.'),
  auth_config: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe(
      'With requires_auth: provider, auth_url, token_url, scopes; shown in the form of the configuration.',
    ),
};

/** What runs no code of its own: the gateway itself sends the token, and knows where to. */
const SENT_BY_GATEWAY = 'http';

export interface DeclaredAuth {
  readonly auth?: z.output<typeof auth> | undefined;
  readonly requires_auth?: boolean | undefined;
  readonly auth_type?: ToolAuth['type'] | null | undefined;
  readonly auth_config?: Record<string, unknown> | null | undefined;
}

/** What would do nothing is not taken: whoever writes it counts on it. */
export function faultsOfAuth(declared: DeclaredAuth): readonly Fault[] {
  const { auth, requires_auth: requiresAuth, auth_type: type, auth_config: config } = declared;
  if (auth !== undefined && requiresAuth !== undefined) {
    const message = 'auth and requires_auth say the same in two ways: keep one';
    return [{ path: ['requires_auth'], isKey: true, message }];
  }
  if (requiresAuth === true) return [];
  const message = 'asks for nothing without requires_auth: true';
  return [
    ...(type === undefined || type === null ? [] : [{ path: ['auth_type'], isKey: true, message }]),
    ...(config === undefined || config === null ? [] : [{ path: ['auth_config'], isKey: true, message }]),
  ];
}

export function authOf(declared: DeclaredAuth): ToolAuth | undefined {
  const { auth, requires_auth: requiresAuth, auth_type: type, auth_config: config } = declared;
  if (auth !== undefined) {
    const { type: own, ...rest } = auth;
    return { type: own, config: withoutUndefined(rest) };
  }
  if (requiresAuth !== true) return undefined;
  return { ...(type && { type }), config: (config ?? {}) as JsonObject };
}

function withoutUndefined(config: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Undefined: agents have the credential set by hand. */
export function managedAuthOf(
  auth: ToolAuth | undefined,
  providers: SpecRules['oauthProviders'],
): ManagedAuth | undefined {
  if (auth?.type !== 'oauth2') return undefined;
  const { provider: name, scopes } = auth.config;
  const provider = typeof name === 'string' ? providers?.get(name) : undefined;
  if (typeof name !== 'string' || provider === undefined) return undefined;
  const wanted = Array.isArray(scopes) ? scopes.filter((each) => typeof each === 'string') : [];
  return { provider: name, scopes: [...new Set(wanted)], hosts: provider.hosts };
}

/** Of a tool whose provider gateway.yaml has, or should have. */
export function faultsOfProvider(
  declared: DeclaredAuth,
  executor: string,
  providers: SpecRules['oauthProviders'] = new Map(),
): readonly Fault[] {
  const auth = authOf(declared);
  const managed = managedAuthOf(auth, providers);
  const at = declared.auth === undefined ? ['auth_config'] : ['auth'];
  if (managed !== undefined) {
    const { handlers = false } = providers.get(managed.provider) ?? {};
    if (handlers || executor === SENT_BY_GATEWAY) return faultsOfScopes(managed, at);
    const message = `gives the token of an account to a tool that runs code, which no list of hosts can hold: use tool_type http, or set oauth.providers.${managed.provider}.handlers: true in gateway.yaml`;
    return [{ path: [...at, 'provider'], message }, ...faultsOfScopes(managed, at)];
  }
  if (declared.auth?.type !== 'oauth2') return [];
  const { provider, auth_url: authUrl, token_url: tokenUrl } = declared.auth;
  if (authUrl !== undefined && tokenUrl !== undefined) return [];
  const known = [...providers.keys()];
  const near = didYouMean(provider, known);
  const hint = near === undefined ? `; there: ${known.join(', ') || 'none'}` : ` (did you mean "${near}"?)`;
  const message = `"${provider}" is none of oauth.providers in gateway.yaml${hint}. One from elsewhere needs auth_url and token_url`;
  return [{ path: ['auth', 'provider'], message }];
}

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;

function faultsOfScopes({ scopes }: ManagedAuth, at: readonly string[]): readonly Fault[] {
  return scopes.flatMap((scope, index) =>
    SCOPE.test(scope)
      ? []
      : [
          {
            path: [...at, 'scopes', index],
            message: 'expected one scope: printable ASCII without spaces and quotes',
          },
        ],
  );
}
