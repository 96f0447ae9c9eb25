// One tools/call by the SDK's client, with an answer that is checked and read here.
import type { CallToolRequestParams, Client, RequestOptions } from '@modelcontextprotocol/client';
import type { McpResult } from '../../../ports/egress/mcp-servers.ts';
import { invalidAnswer } from '../failures.ts';
import { readResult, resultSchema, type BlockCheck } from './read-result.ts';

export type CallTool = (params: CallToolRequestParams, options: RequestOptions) => Promise<McpResult>;

/**
 * A server of 2026-07-28 over HTTP may want arguments repeated in headers, which `callTool` of the SDK does. Its caches and
 * its checks of results by the server's own schemas are of no use here, so everywhere else a call is a plain request.
 */
export function toolCaller(client: Client, isBlock: BlockCheck, transport: 'stdio' | 'http'): CallTool {
  if (transport === 'http' && client.getProtocolEra() === 'modern') {
    return async (params, options) => {
      const read = readResult(await client.callTool(params, options), isBlock);
      if (typeof read === 'string') throw invalidAnswer(read);
      return read;
    };
  }
  const result = resultSchema(isBlock);
  return (params, options) => client.request({ method: 'tools/call', params }, result, options);
}
