// The credential that a tool asks of its agents: `auth`, or requires_auth, auth_type and auth_config as older definitions have it.
import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import type { ToolAuth } from '../../../contract/tool/tool-spec.ts';
import type { Fault } from '../faults.ts';

const sentence = z.string().min(1);
const webUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https URL' });

const auth = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('oauth2'),
    provider: sentence.describe('Name of the provider, for operators.'),
    auth_url: webUrl.describe('Where the account is asked for consent.'),
    token_url: webUrl.describe('Where codes and refresh tokens are exchanged.'),
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
      'The credential that each agent needs: access_token (oauth2) or api_key in its sensitive_config. Without it, no call.',
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
    return { type: own, config: rest };
  }
  if (requiresAuth !== true) return undefined;
  return { ...(type && { type }), config: (config ?? {}) as JsonObject };
}
