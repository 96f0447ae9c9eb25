// What gateway.yaml may say about who is let in: keys, issuers of tokens, client certificates, and what their roles may do.
import { z } from 'zod';
import { egressFields } from '../lib/egress/egress.ts';
import { whole } from '../lib/settings/whole.ts';
import { strangerFields } from './stranger-settings.ts';

const names = z.array(z.string().min(1));

/** Nothing stands for several of them: a star would be a name that nobody has. */
const one = (what: string) =>
  z
    .string()
    .min(1)
    .refine(
      (name) => !name.includes('*'),
      `must name one ${what}: "*" stands for nobody here; declare a key for each`,
    );

/** One that can be named by a request: no control or format characters, no half characters, no star. */
const tenantName = z
  .string()
  .regex(
    /^[^\p{C}*\s](?:[^\p{C}*]{0,198}[^\p{C}*\s])?$/u,
    'must name one tenant, in 1 to 200 characters and no space at an end',
  );

/** Each by its name; a star, in place of the list: any. */
const severalTenants = z.union([z.literal('*'), z.array(tenantName).min(1).max(100)]);

/** A key as gateway.yaml and keys.json have it. */
export const apiKey = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9]{8}$/, 'must be the 8 characters after ute_live_'),
    secret_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits: the sha256 of the secret part'),
    tenant: one('tenant')
      .optional()
      .describe(
        'Whose calls, approvals and records the key reaches. Left out, as is tenants: the key administers the platform (role admin or platform_admin), and calls no tools.',
      ),
    tenants: severalTenants
      .optional()
      .describe(
        'Instead of tenant: all of these, or "*" for any. Every request then names its own, by context.tenant_id or the header X-UTE-Tenant.',
      ),
    agents: names.min(1).default(['*']).describe('Agents the key may speak for; * = any of the tenant.'),
    user: one('user').optional().describe('When set, the only user the key may speak for.'),
    roles: names.min(1),
    expires_at: z.iso.datetime({ offset: true }).optional(),
  })
  .refine(({ tenant, tenants }) => tenant === undefined || tenants === undefined, {
    path: ['tenants'],
    message: 'give tenant or tenants: a key is of one tenant, or of several',
  });

const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const claim = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(8)])
  .describe('The name of a claim, or the path to one inside others: [realm_access, roles].');

const webAddress = z
  .string()
  .max(512)
  .refine((text) => isPlainUrl(text), 'must be an https URL, without user, password and fragment');

/** One that signs tokens. Its `issuer` is compared as it is written. */
export const issuer = z
  .strictObject({
    issuer: webAddress
      .refine((text) => !text.includes('?'), 'must have no query')
      .describe('The claim iss of its tokens, letter by letter.'),
    audience: z
      .union([z.string().min(1), names.min(1)])
      .describe('The claim aud that tokens for this gateway have: one of these.'),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1)
      .default(['RS256', 'ES256', 'EdDSA'])
      .describe('No other signature is accepted, whatever a token or a key says.'),
    token_type: z
      .string()
      .min(1)
      .default('at+jwt')
      .describe(
        'The header typ of its access tokens. Many issuers write JWT, as they do in ID tokens: then the audience alone tells them apart.',
      ),
    jwks_url: webAddress
      .optional()
      .describe('Where its public keys are. Left out: where its discovery document says.'),
    discovery_url: webAddress
      .optional()
      .describe('Its discovery document; left out: issuer and /.well-known/openid-configuration.'),
    allow_http: z.boolean().default(false).describe('Also http, not only https: for trials on one machine.'),
    ...egressFields,
    refresh_s: whole(10, 86_400)
      .default(300)
      .describe('How often its keys are read. A key that it withdraws is refused so many seconds later.'),
    clock_skew_s: whole(0, 300).default(5).describe('By how much its clock may differ from this one.'),
    max_age_s: whole(1, 30 * 86_400)
      .default(3_600)
      .describe('An older token is refused, however long it says that it is good.'),
    tenants: severalTenants.describe(
      'Whose calls its tokens may make: no claim reaches beyond. "*": any that the claim names. With several and no claim, every request names its own.',
    ),
    claims: z
      .strictObject({
        tenant: claim.optional().describe('Holds the tenant, or a list of them. Left out: all of tenants.'),
        roles: claim.optional().describe('Holds one value or a list, each looked up in roles.'),
        agents: claim.optional().describe('Holds the agents it may speak for. Left out: any of the tenant.'),
        user: z
          .union([claim, z.literal(false)])
          .default('sub')
          .describe(
            'Holds the only user it may speak for. false: any, as of a backend that speaks for many.',
          ),
      })
      .prefault({}),
    roles: z
      .record(z.string(), names)
      .default({})
      .describe('Roles of this gateway by the value of the claim. A value that is not here grants nothing.'),
    default_roles: names.default([]).describe('Roles that every token of this issuer has.'),
  })
  .refine(({ jwks_url: keys, discovery_url: found }) => keys === undefined || found === undefined, {
    path: ['discovery_url'],
    message: 'give jwks_url or discovery_url',
  })
  .refine(
    ({ allow_http: allowed, issuer: own, jwks_url: keys, discovery_url: found }) =>
      allowed || ![own, keys, found].some((url) => url?.startsWith('http:') === true),
    { path: ['allow_http'], message: 'is needed for a URL that is not https' },
  )
  .refine(
    ({ tenants, claims }) => claims.tenant !== undefined || (tenants !== '*' && !tenants.includes('*')),
    {
      path: ['claims', 'tenant'],
      message: 'is needed where tenants is "*": else every token would be for any tenant',
    },
  );

export type IssuerSettings = z.output<typeof issuer>;

/** Whose a client certificate is that a CA of tls.client_ca_file has signed. */
const clientCertificate = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ., _ or -')
      .describe('In records it is certificate:<name>.'),
    subject: z
      .record(z.string().regex(/^[A-Za-z0-9.]{1,64}$/), z.string().min(1))
      .refine((said) => Object.keys(said).length > 0, 'must name an attribute, such as CN')
      .optional()
      .describe(
        'Attributes that its subject has, each once and letter by letter: {CN: voice-backend, O: Acme}.',
      ),
    san: z
      .string()
      .regex(
        /^(DNS|URI|email|IP Address):[^\p{C}]+$/u,
        'must be such as URI:spiffe://acme/voice or DNS:voice.acme.internal',
      )
      .optional()
      .describe('Instead of subject: one of its alternative names.'),
    tenant: one('tenant').optional().describe('As of a key.'),
    tenants: severalTenants.optional().describe('As of a key.'),
    agents: names.min(1).default(['*']).describe('As of a key.'),
    user: one('user').optional().describe('As of a key.'),
    roles: names.min(1),
  })
  .refine(({ subject, san }) => (subject === undefined) !== (san === undefined), {
    path: ['san'],
    message: 'give subject or san: which certificate it is',
  })
  .refine(({ tenant, tenants }) => tenant === undefined || tenants === undefined, {
    path: ['tenants'],
    message: 'give tenant or tenants: a certificate is of one tenant, or of several',
  })
  .refine(
    ({ tenant, tenants, roles }) =>
      tenant !== undefined || tenants !== undefined || roles.some((role) => /^(platform_)?admin$/.test(role)),
    { path: ['tenant'], message: 'is needed, unless its role is admin or platform_admin' },
  );

export type CertificateSettings = z.output<typeof clientCertificate>;

export const auth = z.strictObject({
  mode: z
    .enum(['api_keys', 'none'])
    .default('api_keys')
    .describe('none = everybody is admin; only on loopback.'),
  keys: z.array(apiKey).default([]),
  ...strangerFields,
  issuers: z
    .array(issuer)
    .max(32)
    .default([])
    .refine(
      (all) => new Set(all.map(({ issuer: own }) => own)).size === all.length,
      'must name each issuer once',
    )
    .describe('Whose tokens (JWT) are taken beside API keys: docs/identity.md.'),
  client_certificates: z
    .array(clientCertificate)
    .max(1_000)
    .default([])
    .refine(
      (all) => new Set(all.map(({ name }) => name)).size === all.length,
      'must give each certificate a name of its own',
    )
    .describe(
      'Whose client certificates are, of callers that show neither a key nor a token: the first that fits. Needs tls.client_ca_file.',
    ),
  roles: z
    .record(z.string(), names)
    .default({})
    .describe(
      'Permissions per role. There already: agent (tools:read, tools:call), admin (everything of the tenant) and platform_admin (that, and what concerns all tenants: platform:*, specs:*).',
    ),
});

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !text.includes('#');
}
