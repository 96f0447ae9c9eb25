// McpServers: one server of the SDK for each era, and what they do with the requests that this door serves.
import {
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import { permissionMissing } from '../../../contract/call/failure.ts';
import { holds } from '../../../contract/call/principal.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { ApprovalStore } from '../../../ports/approvals/approval-store.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import type { Toolsets } from '../../../ports/registry/toolsets.ts';
import type { Counter } from '../../../ports/telemetry/metrics.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { readContext } from '../../read-context.ts';
import type { ManagementActs } from '../../rest/management/acts.ts';
import { keyOf } from '../../rest/route/page.ts';
import type { McpTerms, OfferedTools } from '../../tokens.ts';
import { askerOf, serveTasks, type ServedTasks } from '../tasks/serve-tasks.ts';
import { refusedTask, TaskCreation } from '../tasks/task-creation.ts';
import { TaskResults } from '../tasks/task-results.ts';
import { TaskWatch } from '../tasks/task-watch.ts';
import { Tasks, type TaskAsker } from '../tasks/tasks.ts';
import type { TelemetryDeps } from '../telemetry/door-telemetry.ts';
import { ApprovalAsking, type Retried } from '../tools/approval-asking.ts';
import { emitTo, isLogLevel } from '../tools/call-events.ts';
import { ListedTools } from '../tools/listed-tools.ts';
import { CONTEXT_KEY, readToolCall, type CallParams } from '../tools/read-tool-call.ts';
import { writeToolResult, type Result } from '../tools/write-tool-result.ts';
import { ANY_PARAMS } from './any-params.ts';
import { takesTasks } from './client-capabilities.ts';
import { ClientQuestions } from '../tools/client-questions.ts';
import { capabilitiesOf, EraServer } from './era-server.ts';
import type { Era, Exchange } from './exchange.ts';
import { LogLevels } from './legacy-session.ts';
import { INVALID_REQUEST } from './read-message.ts';
import { INVALID_PARAMS, toldByProtocol } from './told-failure.ts';

export interface McpDeps {
  readonly caller: Pick<ToolCaller, 'execute'>;
  readonly authenticator: Authenticator;
  readonly catalog: ToolCatalog;
  readonly toolsets: Toolsets;
  readonly offered: OfferedTools;
  readonly approvals: Pick<ApprovalStore, 'get'>;
  readonly calls: AsyncCalls;
  readonly history: Pick<CallHistory, 'tasks'>;
  readonly acts: ManagementActs;
  readonly terms: McpTerms;
  readonly telemetry: TelemetryDeps;
}

interface ListParams {
  readonly cursor?: JsonValue;
  readonly _meta?: JsonValue;
}

/** A list is good until a tool changes, which nobody tells. */
const LIST_TTL_MS = 60_000;

const NOT_RETRIED: Retried = { state: undefined, responses: undefined, capabilities: undefined };

export class McpServers {
  /** What becomes of tasks, for clients that listen. */
  readonly watch: TaskWatch;
  readonly #listed: ListedTools;
  readonly #asking: ApprovalAsking;
  readonly #levels = new LogLevels();
  readonly #questions = new ClientQuestions();
  readonly #creation: TaskCreation;
  readonly #served: ServedTasks;
  readonly #open: Promise<Readonly<Record<Era, EraServer>>>;

  constructor(deps: McpDeps, made: Counter) {
    const { calls, history, acts, terms, authenticator, catalog, toolsets } = deps;
    this.#asking = new ApprovalAsking(deps, this.#questions);
    this.#listed = new ListedTools(deps);
    const tasks = new Tasks({ calls, history, acts, keptMs: terms.callsKeptMs, write: this.#listed });
    this.watch = new TaskWatch({ tasks, calls });
    const results = new TaskResults({ tasks, calls, questions: this.#questions, authenticator });
    this.#served = { tasks, results, levels: this.#levels };
    const longFromMs = terms.taskFromTimeoutMs;
    this.#creation = new TaskCreation({ tasks, calls, catalog, toolsets, authenticator, longFromMs, made });
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
    this.#questions.answered(message);
  }

  async #openBoth() {
    const [modern, legacy] = await Promise.all([this.#openOne('modern'), this.#openOne('legacy')]);
    return { modern, legacy };
  }

  #openOne(era: Era): Promise<EraServer> {
    const server = new EraServer(era, capabilitiesOf(era));
    const { door } = server;
    server.setRequestHandler('tools/call', { params: ANY_PARAMS }, (params: CallParams, { mcpReq }) => {
      const exchange = door.exchangeOf(mcpReq.id);
      const { progressToken } = isJsonObject(params._meta) ? params._meta : {};
      const envelope: JsonObject = { ...mcpReq.envelope };
      const logLevel = envelope[LOG_LEVEL_META_KEY] ?? this.#levels.of(exchange.asked.session);
      const emit = emitTo(exchange, { progressToken, logLevel });
      const read = insideSpan(readToolCall(params, exchange), exchange);
      const request = emit === undefined ? read : { ...read, emit };
      const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
      const state = mcpReq.requestState();
      const asker = { ...askerOf(exchange, mcpReq), takesTasks: takesTasks(capabilities) };
      if (state === undefined && this.#creation.wants(request, params, asker))
        return toldByProtocol(exchange, () => this.#createTask(request, asker));
      return this.#call(request, exchange, { state, responses: mcpReq.inputResponses, capabilities });
    });
    server.setRequestHandler('tools/list', { params: ANY_PARAMS }, (params: ListParams, { mcpReq }) => {
      const exchange = door.exchangeOf(mcpReq.id);
      return toldByProtocol(exchange, () => this.#list(exchange, params));
    });
    serveTasks(server, era, this.#served);
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
    return isEnvelope(response) ? writeToolResult(response, exchange, this.#listed) : response;
  }

  async #createTask(request: ToolRequest, asker: TaskAsker): Promise<Result> {
    const created = await this.#creation.create(request, asker);
    if (!isEnvelope(created)) return created;
    const { exchange } = asker;
    const written = await writeToolResult(created, exchange, this.#listed);
    // Whoever asked for a task of 2025-11-25 takes no other result.
    if (exchange.asked.era === 'legacy' && !created.ok) throw refusedTask(created);
    return written;
  }

  #list({ asked }: Exchange, { cursor, _meta: meta }: ListParams): Result {
    const { principal, era, context } = asked;
    if (principal === undefined) throw new Error('a list is asked for by nobody');
    if (!holds(principal, 'tools:read')) throw permissionMissing('tools:read');
    const own = isJsonObject(meta) ? meta[CONTEXT_KEY] : undefined;
    const { agentId, mode, toolset } = readContext({ ...context, ...(isJsonObject(own) && own) });
    const after = typeof cursor === 'string' ? keyOf(cursor) : undefined;
    if (cursor !== undefined && after === undefined)
      throw new ProtocolError(INVALID_PARAMS, 'The cursor must be the nextCursor of this list.');
    const page = this.#listed.page({ era, principal, agentId, toolset, mode, after });
    return era === 'modern' ? { ...page, ttlMs: LIST_TTL_MS, cacheScope: 'private' } : page;
  }
}

function isEnvelope(answer: ToolResponse | Result): answer is ToolResponse {
  return 'ok' in answer;
}

/** What the call is made of lies inside the span of the request, where that is recorded. */
function insideSpan(request: ToolRequest, { trace }: Exchange): ToolRequest {
  return trace === undefined ? request : { ...request, context: { ...request.context, ...trace } };
}
