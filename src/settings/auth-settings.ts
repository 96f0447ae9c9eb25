// What gateway.yaml may say about who is let in: keys, issuers of tokens, client certificates, and what their roles may do.
import { z } from 'zod';

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
const tenantName = z.string().regex(/^[^\p{C}*]{1,200}$/u, 'must name one tenant, in 1 to 200 characters');

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

export const auth = z.strictObject({
  mode: z
    .enum(['api_keys', 'none'])
    .default('api_keys')
    .describe('none = everybody is admin; only on loopback.'),
  keys: z.array(apiKey).default([]),
  roles: z
    .record(z.string(), names)
    .default({})
    .describe(
      'Permissions per role. There already: agent (tools:read, tools:call), admin (everything of the tenant) and platform_admin (that, and what concerns all tenants: platform:*, specs:*).',
    ),
});
