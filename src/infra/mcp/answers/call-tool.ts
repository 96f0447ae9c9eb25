// One tools/call by the SDK's client, with an answer that is checked and read here.
import type { CallToolRequestParams, Client, RequestOptions } from '@modelcontextprotocol/client';
import type { McpResult } from '../../../ports/egress/mcp-servers.ts';
import type { Clock } from '../../../ports/clock.ts';
import { inputRequired, invalidAnswer } from '../failures.ts';
import { ANYTHING } from './anything.ts';
import type { SecretScrubber } from '../../../lib/secrets/scrub-secrets.ts';
import { readAllAsked } from './read-asked.ts';
import { hasTasks, runTask } from './run-task.ts';
import { readResult, resultSchema, type BlockCheck } from './read-result.ts';

export type CallTool = (params: CallToolRequestParams, options: RequestOptions) => Promise<McpResult>;

interface CallerNeeds {
  readonly client: Client;
  readonly clock: Clock;
  readonly isBlock: BlockCheck;
  readonly transport: 'stdio' | 'http';
  readonly scrubber: SecretScrubber;
}

export interface ToolCaller {
  readonly call: CallTool;
  /** Undefined: the server runs no tasks. */
  readonly runTask?: CallTool;
}

/**
 * A server of 2026-07-28 over HTTP may want arguments repeated in headers, which `callTool` of the SDK does. Its caches and
 * its checks of results by the server's own schemas are of no use here, so everywhere else a call is a plain request.
 */
export function toolCaller({ client, clock, isBlock, transport, scrubber }: CallerNeeds): ToolCaller {
  const isModern = client.getProtocolEra() === 'modern';
  if (transport === 'http' && isModern) {
    return {
      call: async (params, options) => {
        const answer = await client.callTool(params, { ...options, allowInputRequired: true });
        return checked(refuseQuestions(answer, scrubber), isBlock);
      },
    };
  }
  if (isModern) {
    return {
      call: async (params, options) => {
        const asked = { ...options, allowInputRequired: true };
        const answer = await client.request({ method: 'tools/call', params }, ANYTHING, asked);
        return checked(refuseQuestions(answer, scrubber), isBlock);
      },
    };
  }
  const result = resultSchema(isBlock);
  return {
    call: (params, options) => client.request({ method: 'tools/call', params }, result, options),
    ...(hasTasks(client) && {
      runTask: (params, options) => runTask({ client, clock, result }, params, options),
    }),
  };
}

/** Since 2026-07-28 a server asks by its answer. */
function refuseQuestions(answer: object, scrubber: SecretScrubber): object {
  if (!('inputRequests' in answer) && !('requestState' in answer)) return answer;
  throw inputRequired('inputRequests' in answer ? readAllAsked(answer.inputRequests, scrubber) : []);
}

function checked(answer: unknown, isBlock: BlockCheck): McpResult {
  const read = readResult(answer, isBlock);
  if (typeof read === 'string') throw invalidAnswer(read);
  return read;
}
