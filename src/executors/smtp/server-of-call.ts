// The server that a call's message goes to: the connection's, or the calling agent's own under the connection's rules.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { isExactNumber } from '../../lib/json/exact-json.ts';
import { soleName } from '../../lib/text/template.ts';
import type { SmtpServer } from '../../ports/egress/smtp-servers.ts';
import { CallValues, misconfigured } from './message/call-values.ts';
import {
  DEFAULT_CLIENT_NAME,
  DEFAULT_CONNECTIONS,
  defaultPort,
  egressFor,
  hostOf,
  securityOf,
  serverUrl,
  type SmtpConnection,
} from './connection-schema.ts';
import { mailTemplate, type SmtpOptions } from './options-schema.ts';

type Own = NonNullable<SmtpOptions['server']>;

/** Throws Error, with a sentence for the operator, where the two cannot go together. */
export function compileServer(connection: SmtpConnection, own: Own = {}): (call: ToolCall) => SmtpServer {
  const { host: fixed, auth, security, tls, max_connections: most, client_name: name } = connection;
  if (fixed === undefined && own.host === undefined)
    throw new Error('Neither its connection nor server.host says which mail server it is.');
  if (fixed !== undefined && (own.host ?? own.port) !== undefined)
    throw new Error(
      'Its connection has a host: with that, server.host and server.port are not for agents to say.',
    );
  if (auth !== undefined && own.user !== undefined)
    throw new Error('Its connection has an account (auth): server.user would be a second one.');
  if (security === 'none' && own.user !== undefined)
    throw new Error(
      'Its connection has security: none: without TLS the password of server would go in the clear.',
    );
  const isOwn = Object.keys(own).length > 0;
  return (call) => {
    const values = new CallValues(call);
    const port = fixed === undefined ? portOf(values, own.port) : connection.port;
    const at = port ?? defaultPort(security);
    const host = fixed === undefined ? hostIn(values, own.host) : (hostOf(fixed) ?? fixed);
    const url = serverUrl(host, at);
    if (url === undefined) throw misconfigured(own.host ?? 'host', 'must be a host');
    const account = auth ?? accountOf(values, own);
    return {
      host,
      port: at,
      security: securityOf(security, at),
      ...(account !== undefined && { account }),
      ...(tls?.ca !== undefined && { ca: tls.ca }),
      ...(tls?.server_name !== undefined && { serverName: tls.server_name }),
      egress: egressFor(connection, url),
      clientName: name ?? DEFAULT_CLIENT_NAME,
      maxConnections: most ?? DEFAULT_CONNECTIONS,
      // What an agent brings is its own: another agent that says the same is given other connections.
      owner: isOwn ? JSON.stringify([call.principal?.tenantId, call.context.agentId]) : '',
    };
  };
}

/** A literal, or what the agent has configured in its place; undefined: nothing. */
function textOf(values: CallValues, said: string | undefined): string | undefined {
  if (said === undefined) return undefined;
  const name = soleName(mailTemplate(said));
  if (name === undefined) return said.replaceAll('{{', '{').replaceAll('}}', '}');
  const value = values.of(name);
  if (value === undefined) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (isExactNumber(value)) return value.rawJSON;
  throw misconfigured(name, 'must be text or a number');
}

function hostIn(values: CallValues, said: string | undefined): string {
  const text = textOf(values, said);
  const host = text === undefined ? undefined : hostOf(text);
  if (host === undefined) throw misconfigured(nameIn(said, 'host'), 'must be the host of a mail server');
  return host;
}

function portOf(values: CallValues, said: Own['port']): number | undefined {
  if (typeof said === 'number') return said;
  const text = textOf(values, said);
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw misconfigured(nameIn(said, 'port'), 'must be a port from 1 to 65535');
  return port;
}

function accountOf(values: CallValues, own: Own): SmtpServer['account'] {
  const user = [own.user]
    .flat()
    .reduce<string | undefined>((found, said) => found ?? textOf(values, said), undefined);
  const password = textOf(values, own.password);
  if (user === undefined && password === undefined) return undefined;
  if (user === undefined || user === '' || user.includes('\0'))
    throw misconfigured(nameIn(own.user, 'user'), 'must be the user of the mail account');
  if (password === undefined || password === '' || password.includes('\0'))
    throw misconfigured(nameIn(own.password, 'password'), 'must be the password of the mail account');
  return { user, password };
}

function nameIn(said: string | readonly string[] | undefined, otherwise: string): string {
  return typeof said !== 'string' ? otherwise : (soleName(mailTemplate(said)) ?? otherwise);
}
