// An smtp connection: a mail server and the account on it, or only the rules for servers that agents bring themselves.
import { z } from 'zod';
import { egressFault, egressFields, egressOf, portProblem } from '../../lib/egress/egress.ts';
import { portRules } from '../../lib/egress/egress-ports.ts';
import { whole } from '../../lib/settings/whole.ts';
import type { SmtpSecurity } from '../../ports/egress/smtp-servers.ts';
import { parseRule, RULE_EXPECTED } from './message/recipient-rules.ts';

/** Of submission: RFC 6409 and RFC 8314. */
export const MAIL_PORTS: readonly number[] = [465, 587];
const IMPLICIT_TLS = 465;
export const DEFAULT_CONNECTIONS = 5;
/** Says nothing of this machine: what stands here goes into the headers of each message. */
export const DEFAULT_CLIENT_NAME = '[127.0.0.1]';

const pem = z.string().regex(/-----BEGIN /, { error: 'Expected PEM text, such as ${file:ca.pem} brings.' });
const hostName = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

export const ruleList = z.array(
  z.string().refine((text) => parseRule(text) !== undefined, { error: `Expected ${RULE_EXPECTED}.` }),
);

export const smtpConnectionSchema = z
  .strictObject({
    type: z.literal('smtp'),
    host: z
      .string()
      .superRefine((text, context) => {
        if (hostOf(text) !== undefined) return;
        context.addIssue({ code: 'custom', message: 'Expected a host such as smtp.example.com.' });
      })
      .optional()
      .describe('The mail server. Left out: each agent has its own, by `server` of the tool.'),
    port: whole(1, 65_535).optional().describe('587 when left out; 465 with security: tls.'),
    security: z
      .enum(['tls', 'starttls', 'none'])
      .optional()
      .describe(
        'tls from the first byte on; starttls asks for it before anything else is said, and a server without it is not spoken to; none only for a relay on a network that you trust. ' +
          'When left out: tls at port 465, and else starttls.',
      ),
    auth: z
      .strictObject({ user: z.string().min(1).max(320), password: z.string().min(1).max(1_024) })
      .optional()
      .describe('The account on the server.'),
    tls: z
      .strictObject({
        ca: pem.optional().describe('Certificate authorities that are trusted instead of the system’s.'),
        server_name: z
          .string()
          .regex(hostName, { error: 'Expected the name of a host.' })
          .optional()
          .describe('The name that the certificate is for, where that is not the host.'),
      })
      .optional(),
    client_name: z
      .string()
      .regex(/^(?:[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]+\])$/, {
        error: 'Expected a host name, or an address in brackets.',
      })
      .optional()
      .describe(`What the gateway calls itself in EHLO; ${DEFAULT_CLIENT_NAME} when left out.`),
    max_connections: whole(1, 50)
      .optional()
      .describe(`Of each account; ${DEFAULT_CONNECTIONS} when left out.`),
    allow_recipients: ruleList
      .min(1)
      .optional()
      .describe(
        `Whom any tool over this connection may write to, besides what the tool says: ${RULE_EXPECTED}.`,
      ),
    allow_hosts: egressFields.allow_hosts
      .unwrap()
      .optional()
      .describe(
        'Servers that may be reached, as in other connections. The host itself when left out; without one any public host.',
      ),
    allow_ports: portRules.optional().describe('Ports that may be reached besides 465 and 587, such as 25.'),
    allow_private: egressFields.allow_private,
  })
  .superRefine((connection, context) => {
    const issue = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    const { host, port, auth, security, allow_hosts: hosts } = connection;
    if (security === 'none' && auth !== undefined)
      issue(
        'auth',
        'Without TLS the password would go over the network in the clear: leave auth out, or security.',
      );
    if (host === undefined) {
      for (const field of ['port', 'auth'] as const)
        if (connection[field] !== undefined) issue(field, `"${field}" goes with host.`);
      return;
    }
    const url = serverUrl(host, port ?? defaultPort(security));
    if (url === undefined) return;
    if (hosts !== undefined && egressFault({ allowHosts: hosts, usualPorts: MAIL_PORTS }, url) === 'host')
      issue('allow_hosts', `Expected the connection's own host "${url.hostname}" among the allowed ones.`);
    const problem = portProblem(egressFor(connection, url), url, 'The port of this connection');
    if (problem !== undefined) issue('port', problem);
  });

export type SmtpConnection = z.output<typeof smtpConnectionSchema>;

export function defaultPort(security: SmtpSecurity | undefined): number {
  return security === 'tls' ? IMPLICIT_TLS : 587;
}

export function securityOf(said: SmtpSecurity | undefined, port: number): SmtpSecurity {
  return said ?? (port === IMPLICIT_TLS ? 'tls' : 'starttls');
}

/** As a URL has it, which writes an address in one way only; undefined: it is none. */
export function hostOf(text: string): string | undefined {
  const isV6 = text.includes(':');
  if (!isV6 && !hostName.test(text)) return undefined;
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (isV6 && !/^[0-9A-Fa-f:.]+$/.test(bare)) return undefined;
  return URL.parse(`https://${isV6 ? `[${bare}]` : text}`)?.hostname;
}

/** As the rules of egress look at it. */
export function serverUrl(host: string, port: number): URL | undefined {
  const known = hostOf(host);
  return known === undefined ? undefined : (URL.parse(`https://${known}:${port}`) ?? undefined);
}

/** Where the connection may lead: to `url`, or for servers of agents wherever its rules let them. */
export function egressFor(connection: Omit<SmtpConnection, 'type'>, url: URL) {
  const { host, allow_hosts: hosts } = connection;
  const said = egressOf(connection, url);
  const allowHosts = hosts ?? (host === undefined ? [] : [url.hostname]);
  return { ...said, allowHosts, usualPorts: MAIL_PORTS };
}
