// An http-hosts connection: the places that the URL of an argument may name, each with what it takes and what goes along with it.
import { z } from 'zod';
import { headerNameProblem } from '../../../lib/text/header-rules.ts';
import { checkConnection, connectionFields } from '../connection-schema.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
export type Method = (typeof METHODS)[number];

const MOST_HOSTS = 200;
const MOST_HEADERS = 20;

const hostSchema = z
  .strictObject({
    ...connectionFields,
    methods: z
      .array(z.enum(METHODS))
      .min(1)
      .optional()
      .describe('Methods that callers may use; GET alone when left out.'),
    caller_headers: z
      .array(z.string())
      .max(MOST_HEADERS)
      .optional()
      .describe(
        'Headers that callers may set, by name; none when left out. Never one that carries a secret.',
      ),
  })
  .superRefine((host, context) => {
    checkConnection(host, context);
    for (const [at, name] of (host.caller_headers ?? []).entries()) {
      const message = headerNameProblem(name, 'tool');
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['caller_headers', at], message });
    }
  });

export type ListedHost = z.output<typeof hostSchema>;

export const hostsConnectionSchema = z.strictObject({
  type: z.literal('http-hosts'),
  hosts: z
    .array(hostSchema)
    .max(MOST_HOSTS)
    .superRefine((hosts, context) => {
      const seen = new Set<string>();
      for (const [at, { base_url: base }] of hosts.entries()) {
        const url = URL.parse(base)?.href.replace(/\/$/, '') ?? base;
        if (seen.has(url))
          context.addIssue({ code: 'custom', path: [at, 'base_url'], message: 'It is listed twice.' });
        seen.add(url);
      }
    })
    .describe('Where requests may go: what a URL lies below. The longest that fits counts.'),
});
