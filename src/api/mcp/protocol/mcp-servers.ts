// McpServers: one server of the SDK for each era, and what they do with the requests that this door serves.
import {
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  type JSONRPCRequest,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { permissionMissing } from '../../../contract/call/failure.ts';
import { holds } from '../../../contract/call/principal.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { ApprovalStore } from '../../../ports/approvals/approval-store.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { readContext } from '../../read-context.ts';
import { keyOf } from '../../rest/route/page.ts';
import type { McpTerms, OfferedTools } from '../../tokens.ts';
import { ApprovalAsking, type Retried } from '../tools/approval-asking.ts';
import { emitTo, isLogLevel } from '../tools/call-events.ts';
import { ListedTools } from '../tools/listed-tools.ts';
import { CONTEXT_KEY, readToolCall, type CallParams } from '../tools/read-tool-call.ts';
import { writeToolResult, type Result } from '../tools/write-tool-result.ts';
import { CAPABILITIES, EraServer } from './era-server.ts';
import type { Era, Exchange } from './exchange.ts';
import { LogLevels } from './legacy-session.ts';
import { INVALID_REQUEST } from './read-message.ts';

export interface McpDeps {
  readonly caller: Pick<ToolCaller, 'execute'>;
  readonly authenticator: Authenticator;
  readonly catalog: ToolCatalog;
  readonly offered: OfferedTools;
  readonly approvals: Pick<ApprovalStore, 'get'>;
  readonly terms: McpTerms;
}

interface ListParams {
  readonly cursor?: JsonValue;
  readonly _meta?: JsonValue;
}

const INVALID_PARAMS = -32_602;
/** A list is good until a tool changes, which nobody tells. */
const LIST_TTL_MS = 60_000;

const NOT_RETRIED: Retried = { state: undefined, responses: undefined, capabilities: undefined };

/** Calls are read by hand: what is wrong with one is the pipeline's to refuse. */
const ANY_PARAMS: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'unified-tool-executor',
    validate: (value) => (isJsonObject(value) ? { value } : { issues: [{ message: 'must be an object' }] }),
  },
};

export class McpServers {
  readonly #listed: ListedTools;
  readonly #asking: ApprovalAsking;
  readonly #levels = new LogLevels();
  readonly #open: Promise<Readonly<Record<Era, EraServer>>>;

  constructor(deps: McpDeps) {
    this.#asking = new ApprovalAsking(deps);
    this.#listed = new ListedTools(deps.catalog, deps.offered);
    this.#open = this.#openBoth();
  }

  async deliver(message: JSONRPCRequest, exchange: Exchange): Promise<void> {
    const servers = await this.#open;
    servers[exchange.asked.era].door.deliver(message, exchange);
  }

  /** Of a call that is answered without the SDK, since its message is none that the SDK would take. */
  async answerCall(request: ToolRequest, exchange: Exchange): Promise<void> {
    const { id, era } = exchange.asked;
    try {
      const written = await this.#call(request, exchange, NOT_RETRIED);
      const result = era === 'modern' ? { resultType: 'complete', ...written } : written;
      exchange.answer({ jsonrpc: '2.0', id, result });
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { code, message, data } = error;
      exchange.answer({ jsonrpc: '2.0', id, error: { code, message, data } });
    }
    await exchange.done;
  }

  /** What a 2025-era client answers to a request of this door. */
  answered(message: unknown): void {
    this.#asking.answered(message);
  }

  async #openBoth() {
    const [modern, legacy] = await Promise.all([this.#openOne('modern'), this.#openOne('legacy')]);
    return { modern, legacy };
  }

  #openOne(era: Era): Promise<EraServer> {
    const server = new EraServer(era, CAPABILITIES);
    const { door } = server;
    server.setRequestHandler('tools/call', { params: ANY_PARAMS }, (params: CallParams, { mcpReq }) => {
      const exchange = door.exchangeOf(mcpReq.id);
      const { progressToken } = isJsonObject(params._meta) ? params._meta : {};
      const envelope: JsonObject = { ...mcpReq.envelope };
      const logLevel = envelope[LOG_LEVEL_META_KEY] ?? this.#levels.of(exchange.asked.session);
      const emit = emitTo(exchange, { progressToken, logLevel });
      const request = readToolCall(params, exchange);
      return this.#call(emit === undefined ? request : { ...request, emit }, exchange, {
        state: mcpReq.requestState(),
        responses: mcpReq.inputResponses,
        capabilities: envelope[CLIENT_CAPABILITIES_META_KEY],
      });
    });
    server.setRequestHandler('tools/list', { params: ANY_PARAMS }, (params: ListParams, { mcpReq }) => {
      const exchange = door.exchangeOf(mcpReq.id);
      return asProtocolErrors(exchange, () => this.#list(exchange, params));
    });
    if (era === 'legacy')
      server.setRequestHandler('logging/setLevel', { params: ANY_PARAMS }, ({ level }, { mcpReq }) =>
        this.#setLevel(door.exchangeOf(mcpReq.id), level),
      );
    return server.open();
  }

  #setLevel({ asked: { session } }: Exchange, level: JsonValue | undefined): Result {
    if (!isLogLevel(level))
      throw new ProtocolError(INVALID_PARAMS, 'level must be one of those of RFC 5424.');
    if (session === undefined)
      throw new ProtocolError(INVALID_REQUEST, 'A level is of a session: say its Mcp-Session-Id.');
    this.#levels.set(session, level);
    return {};
  }

  async #call(request: ToolRequest, exchange: Exchange, retried: Retried): Promise<Result> {
    const response = await this.#asking.execute(request, exchange, retried);
    if (!isEnvelope(response)) return response;
    return writeToolResult(response, exchange, {
      hasOutputSchema: (tool) => this.#listed.hasOutputSchema(tool),
    });
  }

  #list({ asked }: Exchange, { cursor, _meta: meta }: ListParams): Result {
    const { principal, era, context } = asked;
    if (principal === undefined) throw new Error('a list is asked for by nobody');
    if (!holds(principal, 'tools:read')) throw permissionMissing('tools:read');
    const own = isJsonObject(meta) ? meta[CONTEXT_KEY] : undefined;
    const { agentId, mode } = readContext({ ...context, ...(isJsonObject(own) && own) });
    const after = typeof cursor === 'string' ? keyOf(cursor) : undefined;
    if (cursor !== undefined && after === undefined)
      throw new ProtocolError(INVALID_PARAMS, 'The cursor must be the nextCursor of this list.');
    const page = this.#listed.page({ era, principal, agentId, mode, after });
    return era === 'modern' ? { ...page, ttlMs: LIST_TTL_MS, cacheScope: 'private' } : page;
  }
}

function isEnvelope(answer: ToolResponse | Result): answer is ToolResponse {
  return 'ok' in answer;
}

/** A failure of the gateway's own, as the protocol tells it. */
function asProtocolErrors<Made>(exchange: Exchange, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const { type, reason, message, details } = error;
    if (type === 'PERMISSION_DENIED') exchange.status = 403;
    throw new ProtocolError(type === 'VALIDATION' ? INVALID_PARAMS : INVALID_REQUEST, message, {
      type,
      reason,
      message,
      details,
    });
  }
}
