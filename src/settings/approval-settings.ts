// What gateway.yaml may say about who decides.
import { z } from 'zod';
import { endpoint } from './oauth-settings.ts';
import { whole } from '../lib/settings/whole.ts';

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

const name = () =>
  z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be lower-case letters, digits, "_" and "-"');

const hook = z.strictObject({
  name: name().describe('Stays the same when the URL changes: messages under way go to the new one.'),
  url: z.string().min(1).max(2_048).describe('Its host must be one of webhooks.allow_hosts.'),
  tenants: z
    .array(z.string().min(1).max(200))
    .max(1_000)
    .default([])
    .describe('Only approvals of these tenants; none: of all.'),
  groups: z
    .array(z.string())
    .max(20)
    .default([])
    .describe('Only approvals that members of any of these groups may give; none: all.'),
  events: z
    .array(z.enum(['asked', 'expiring', 'decided']))
    .min(1)
    .default(['asked', 'expiring', 'decided'])
    .describe('What it is told.'),
  email: z
    .array(z.email())
    .max(50)
    .default([])
    .describe('For a hook that sends mails: to whom. The message then holds a subject and a text.'),
});

export const approvals = z
  .strictObject({
    allow_self_approval: z
      .boolean()
      .default(false)
      .describe('Whether the credential that asked may also approve.'),
    require_reason: z.boolean().default(false).describe('A rejection has to say why: its comment.'),
    groups: z
      .record(name(), members)
      .default({})
      .describe('Groups of approvers, for extensions.approval.groups of a tool.'),
    notify: z
      .array(hook)
      .max(20)
      .default([])
      .describe('Hooks that are told of approvals, by signed messages.'),
    public_url: endpoint
      .refine((text) => !text.includes('?'), 'must have no query')
      .optional()
      .describe(
        'Where approvers reach this gateway: links in messages begin with it. Left out: that of oauth, and without one they are paths.',
      ),
    expiring_before_ms: whole(1_000, 86_400_000)
      .default(300_000)
      .describe('How long before its end an approval is told as expiring; at most a quarter of its time.'),
  })
  .superRefine(({ groups, notify }, context) => {
    for (const [index, { name: own, groups: named }] of notify.entries()) {
      const add = (path: (string | number)[], message: string) =>
        context.addIssue({ code: 'custom', path: ['notify', index, ...path], message });
      if (notify.findIndex((other) => other.name === own) < index)
        add(['name'], 'names another hook already');
      const at = named.findIndex((each) => !Object.hasOwn(groups, each));
      if (at >= 0) add(['groups', at], 'is no group of approvals.groups');
    }
  });
