// The MCP door on the wire, as far as HTTP goes: JSON-RPC messages, and where a client learns whom to ask for a token.
import { z } from 'zod';
import { INTERACTION_MODES } from '../../contract/tool/tool-spec.ts';
import { isLanguageTag } from '../../lib/text/language-tag.ts';
import { Problem } from '../rest/openapi/shared.ts';
import { json, route, type Route } from '../rest/route/route.ts';
import { list, named, object, oneOf, shape, text, textOf } from '../rest/route/shapes.ts';

const TAG = 'mcp';

type Params = NonNullable<Route['params']>;
const OF_TOOLSET: Params = {
  toolset: shape(() => z.string().max(64).describe('Its tools alone, by the names that they have there.')),
};

const RpcId = shape(() => z.union([z.string(), z.int()]));

const RpcMessage = named('JsonRpcMessage', () =>
  z.looseObject({
    jsonrpc: z.literal('2.0'),
    id: RpcId().optional(),
    method: text().optional(),
    params: object().optional(),
  }),
);

const RpcError = named('JsonRpcError', () =>
  z.object({
    jsonrpc: z.literal('2.0'),
    id: RpcId().nullable(),
    error: z.object({
      code: z.int(),
      message: text(),
      data: z.unknown().optional().describe('Of a call: its error, as the envelope of REST has it.'),
    }),
  }),
);

const RpcResult = named('JsonRpcResult', () =>
  z.object({ jsonrpc: z.literal('2.0'), id: RpcId(), result: object() }),
);

const RpcAnswer = named('JsonRpcAnswer', () => z.union([RpcResult(), RpcError()]));

const contextField = (description: string) => textOf(1, 512).optional().describe(description);

const events = shape(() => z.string());

const messageRoute = (operationId: string, path: `/${string}`, params?: Params) =>
  route({
    operationId,
    method: 'post',
    path,
    ...(params !== undefined && { params }),
    tag: TAG,
    summary: 'A message of the Model Context Protocol',
    description:
      'Streamable HTTP, revisions 2026-07-28 and 2025-11-25, and before them what 2025-era clients ask for. An answer is JSON, or a stream of ' +
      'events where there is something to tell before it. `agent_id`, `user_id`, `session_id`, `mode` and `language` of the query are the context of every call.',
    query: shape(() =>
      z.object({
        agent_id: contextField('The agent that calls are made for, and whose tools are listed.'),
        user_id: contextField('The user that calls are made for.'),
        session_id: contextField('The conversation that calls belong to.'),
        mode: oneOf(INTERACTION_MODES).optional(),
        language: textOf(2, 35)
          .refine(isLanguageTag, 'must be a language tag such as de or pt-BR')
          .optional()
          .describe('The language that the user is spoken to in: safe answers are given in it.'),
      }),
    ),
    body: {
      shape: RpcMessage,
      example: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'calculate_sum', arguments: { a: 1, b: 2 } },
      },
    },
    answers: {
      200: {
        description: 'The answer.',
        content: { 'application/json': RpcAnswer, 'text/event-stream': events },
      },
      202: { description: 'A notification, or an answer of the client, was taken.' },
      400: json('No message of the protocol, or one that contradicts its headers.', RpcError),
      401: json('No credential, or one that is not valid.', RpcError, ['WWW-Authenticate']),
      403: json('The credential lacks the permission, or a page of another origin asks.', RpcError),
      404: json('There is no such method, no such session, or no such toolset.', RpcError),
      406: json('The client takes no JSON.', RpcError),
      413: json('The message is too large.', RpcError),
      415: json('The message is not sent as JSON.', RpcError),
      429: json('Too many wrong credentials have come from the address.', RpcError, ['Retry-After']),
      503: json('Too many streams are open.', RpcError),
    },
  });

export const mcpMessage = messageRoute('mcpMessage', '/mcp');
export const mcpToolsetMessage = messageRoute('mcpToolsetMessage', '/mcp/{toolset}', OF_TOOLSET);

const listenRoute = (operationId: string, path: `/${string}`, params?: Params) =>
  route({
    operationId,
    method: 'get',
    path,
    ...(params !== undefined && { params }),
    tag: TAG,
    summary: 'Changes of the tools, for clients of 2025-11-25',
    description: 'A stream of events; clients of 2026-07-28 send `subscriptions/listen`.',
    answers: {
      200: { description: 'The stream.', content: { 'text/event-stream': events } },
      400: {
        description: 'The query or a header is not valid.',
        content: { 'application/json': RpcError, 'application/problem+json': Problem },
      },
      401: json('No credential, or one that is not valid.', RpcError, ['WWW-Authenticate']),
      403: json('A page of another origin asks.', RpcError),
      404: json('There is no such toolset.', RpcError),
      406: json('The client takes no events.', RpcError),
      429: json('Too many wrong credentials have come from the address.', RpcError, ['Retry-After']),
      503: json('Too many streams are open.', RpcError),
    },
  });

export const mcpListen = listenRoute('mcpListen', '/mcp');
export const mcpToolsetListen = listenRoute('mcpToolsetListen', '/mcp/{toolset}', OF_TOOLSET);

const ResourceMetadata = named('ProtectedResourceMetadata', () =>
  z.object({
    resource: text('What tokens are for.').meta({ format: 'uri' }),
    authorization_servers: list(text()),
    bearer_methods_supported: list(text()),
    resource_name: text(),
  }),
);

const metadata = (operationId: string, path: `/${string}`) =>
  route({
    operationId,
    method: 'get',
    path,
    tag: 'well-known',
    summary: 'Who gives out tokens for this gateway (RFC 9728)',
    description: 'Where `auth.issuers` names any.',
    answers: {
      200: json('The metadata.', ResourceMetadata),
      404: {
        description: 'No issuer of tokens is set up here.',
        content: { 'application/problem+json': Problem },
      },
    },
  });

export const resourceMetadata = metadata('resourceMetadata', '/.well-known/oauth-protected-resource');
export const mcpResourceMetadata = metadata(
  'mcpResourceMetadata',
  '/.well-known/oauth-protected-resource/mcp',
);
