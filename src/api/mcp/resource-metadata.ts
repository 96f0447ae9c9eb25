// Where a client without a good token learns whom to ask for one: RFC 9728, and the challenge that leads there.
import type { IncomingHttpHeaders } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { McpTerms } from '../tokens.ts';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';
export const MCP_PATH = '/mcp';

export interface AskedAt {
  readonly headers: IncomingHttpHeaders;
  readonly socket: unknown;
}

/** Undefined: no issuer of tokens is set up. */
export function metadataOf({ issuers, publicUrl }: McpTerms, asked: AskedAt) {
  if (issuers.length === 0) return undefined;
  return {
    resource: `${baseOf(publicUrl, asked)}${MCP_PATH}`,
    authorization_servers: [...issuers],
    bearer_methods_supported: ['header'],
    resource_name: 'UnifiedToolExecutor',
  };
}

/** The header WWW-Authenticate. */
export function challengeOf({ issuers, publicUrl }: McpTerms, asked: AskedAt): string {
  if (issuers.length === 0) return 'Bearer';
  const fault = asked.headers.authorization === undefined ? '' : 'error="invalid_token", ';
  return `Bearer ${fault}resource_metadata="${baseOf(publicUrl, asked)}${METADATA_PATH}${MCP_PATH}"`;
}

/** What links to approvals begin with. */
export function approvalsBase({ approvalsUrl, publicUrl }: McpTerms, asked: AskedAt): string {
  return baseOf(approvalsUrl ?? publicUrl, asked);
}

/** Without a setting, as the client reached it: behind a proxy that ends TLS, that is not what it sees. */
function baseOf(publicUrl: string | undefined, { headers, socket }: AskedAt): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const protocol = socket instanceof TLSSocket ? 'https' : 'http';
  // What a quoted string of a header cannot hold is in no name of a host.
  return `${protocol}://${(headers.host ?? 'localhost').replaceAll(/[^\w.:[\]-]/g, '')}`;
}
