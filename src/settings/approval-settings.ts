// What gateway.yaml may say about who decides.
import { z } from 'zod';

const names = z.array(z.string().min(1).max(200)).max(1_000);

const members = z
  .strictObject({
    roles: names.default([]).describe('Roles of keys.'),
    users: names.default([]).describe('Users of keys; case and width make no other person.'),
  })
  .refine(
    ({ roles, users }) => roles.length + users.length > 0,
    'must name roles or users: nobody could approve',
  );

export const approvals = z.strictObject({
  allow_self_approval: z
    .boolean()
    .default(false)
    .describe('Whether the credential that asked may also approve.'),
  require_reason: z.boolean().default(false).describe('A rejection has to say why: its comment.'),
  groups: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be lower-case letters, digits, "_" and "-"'),
      members,
    )
    .default({})
    .describe('Groups of approvers, for extensions.approval.groups of a tool.'),
});
