// McpDoor: the Model Context Protocol over HTTP. The SDK speaks it; calls go the way that those of REST and gRPC go.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/server';
import { errorRow } from '../../contract/call/error-row.ts';
import { noSuchToolset, toolFailure } from '../../contract/call/failure.ts';
import type { Principal } from '../../contract/call/principal.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { mayKnow } from '../offered-toolset.ts';
import { foreignOrigin } from '../../lib/egress/foreign-request.ts';
import { wireError } from '../rest/execute/write-envelope.ts';
import { environmentOf } from '../rest/execute/read-call.ts';
import { wrongQuery } from '../rest/route/asked.ts';
import { parameterFault } from './headers/parameter-fault.ts';
import { Exchange, type Asked, type Era } from './protocol/exchange.ts';
import { idOf, incoming, type Incoming, type Rejection } from './protocol/incoming.ts';
import { InFlight } from './protocol/in-flight.ts';
import { newSession, SESSION_HEADER } from './protocol/legacy-session.ts';
import { ListChanges, listenerOf } from './listen/list-changes.ts';
import { listen } from './listen/listen.ts';
import { INVALID_REQUEST, readMessage, Unreadable } from './protocol/read-message.ts';
import { contextIn, faultOfHead, sessionIn, takes, toolsetIn } from './protocol/request-head.ts';
import {
  faultOf,
  NO_EVENTS,
  retryAfterSeconds,
  strangerStatus,
  TOO_MANY_STREAMS,
  UNKNOWN_SESSION,
  type RpcFault,
} from './protocol/rpc-fault.ts';
import { McpServers, type McpDeps } from './protocol/mcp-servers.ts';
import { approvalsBase, challengeOf } from './resource-metadata.ts';
import { mcpMessage } from './schema.ts';
import { DoorTelemetry } from './telemetry/door-telemetry.ts';
import { refusedCall } from './tools/read-tool-call.ts';

export class McpDoor {
  readonly #deps: McpDeps;
  readonly #servers: McpServers;
  readonly #changes: ListChanges;
  readonly #inFlight = new InFlight();
  readonly #telemetry: DoorTelemetry;

  constructor(deps: McpDeps) {
    this.#deps = deps;
    this.#telemetry = new DoorTelemetry(deps.telemetry);
    this.#servers = new McpServers(deps, this.#telemetry.tasks);
    this.#changes = new ListChanges(deps.toolsets, this.#telemetry.openStreams, this.#telemetry.readerLost);
  }

  async serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const fault = faultOfHead(request);
    if (fault !== undefined) return this.#fail(request, reply, fault, null);
    const read = readMessage(wrongQuery(mcpMessage, request) ?? request.body);
    if (read instanceof Unreadable) return this.#refuse(request, reply, read);
    const { value: body, largeIntegers } = read;
    const came = incoming(request, body);
    if (came.kind === 'rejected') return this.#reject(request, reply, came, body);
    if (came.kind !== 'request') return this.#take(request, reply, came);
    const { era, message } = came;
    const asked = { ...this.#asked(request, era, message.id), largeIntegers };
    // To strangers it is 401, whatever session they say.
    if (asked.session === '')
      return this.#reject(request, reply, { kind: 'rejected', ...UNKNOWN_SESSION }, body);
    // A call says who makes it inside the pipeline, where that is audited.
    if (message.method === 'tools/call') {
      const exchange = this.#exchange(asked, reply);
      const unlike = await parameterFault(this.#deps, request.headers, exchange, message.params);
      if (unlike !== undefined) return this.#reject(request, reply, unlike, body);
      return this.#serve(message, exchange);
    }
    const principal = await this.#principalOf(request, reply, message.id);
    if (principal === undefined || !this.#mayKnow(request, reply, principal, message.id)) return;
    const exchange = this.#exchange({ ...asked, principal }, reply);
    if (era === 'modern' && message.method === 'subscriptions/listen') {
      const listener = listenerOf(request, principal, this.#deps.authenticator);
      const served = { changes: this.#changes, watch: this.#servers.watch };
      const fault = await listen(served, reply, exchange, listener, message.params as JsonObject);
      if (fault !== undefined) return this.#sendAway(request, reply, fault, message.id);
      return this.#telemetry.counted(message, 'ok');
    }
    if (era === 'legacy' && message.method === 'initialize')
      exchange.header(SESSION_HEADER, newSession(message.params?.['capabilities'] as JsonValue | undefined));
    await this.#serve(message, exchange);
  }

  /** GET: what a 2025-era client listens to beside its requests. */
  async follow(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const foreign = foreignOrigin(request.headers);
    if (foreign !== undefined)
      return this.#fail(request, reply, { status: 403, code: INVALID_REQUEST, message: foreign }, null);
    if (!takes(request.headers.accept, 'text/event-stream'))
      return this.#fail(request, reply, NO_EVENTS, null);
    const principal = await this.#principalOf(request, reply, null);
    if (principal === undefined || !this.#mayKnow(request, reply, principal, null)) return;
    if (await this.#changes.follow(reply, listenerOf(request, principal, this.#deps.authenticator))) return;
    this.#sendAway(request, reply, TOO_MANY_STREAMS, null);
  }

  close(): void {
    this.#changes.close();
  }

  async #serve(message: JSONRPCRequest, exchange: Exchange): Promise<void> {
    const leave = this.#inFlight.enter(exchange);
    try {
      await this.#telemetry.around(message, exchange, async () => {
        await this.#servers.deliver(message, exchange);
        await exchange.done;
      });
    } finally {
      leave();
    }
  }

  /** What nobody waits for an answer to. */
  async #take(request: FastifyRequest, reply: FastifyReply, came: Incoming): Promise<void> {
    if ((await this.#principalOf(request, reply, null)) === undefined) return;
    if (
      came.kind === 'notification' &&
      came.era === 'legacy' &&
      came.message.method === 'notifications/cancelled'
    )
      this.#inFlight.cancel(this.#asked(request, 'legacy', ''), came.message.params?.['requestId']);
    if (came.kind === 'response') this.#servers.answered(came.message);
    this.#telemetry.counted(came.kind === 'notification' ? came.message : {}, 'ok');
    reply.code(202).send();
  }

  /** Undefined: it has been told already why it may not. */
  async #principalOf(
    request: FastifyRequest,
    reply: FastifyReply,
    id: RequestId | null,
  ): Promise<Principal | undefined> {
    const { credential, traced, wrongTenant } = environmentOf(request, () => undefined);
    try {
      if (wrongTenant !== undefined) throw wrongTenant;
      return await this.#deps.authenticator.authenticate(credential, traced.tenantId);
    } catch (error) {
      if (!(error instanceof Error) || !('type' in error)) throw error;
      this.#fail(request, reply, faultOf(error as ToolFailure), id);
      return undefined;
    }
  }

  /** False: it has been told that there is no such toolset. Agents are asked for by lists and calls, which may name one each. */
  #mayKnow(
    request: FastifyRequest,
    reply: FastifyReply,
    principal: Principal,
    id: RequestId | null,
  ): boolean {
    const name = toolsetIn(request.params);
    if (name === undefined || mayKnow(this.#deps.toolsets.find(name), principal)) return true;
    const { message } = noSuchToolset(name);
    this.#fail(request, reply, { status: 404, code: INVALID_REQUEST, message }, id);
    return false;
  }

  /** A call that cannot be read is refused where others are made: known, counted and audited first. */
  async #refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    { failure, code, call }: Unreadable,
  ): Promise<void> {
    const era: Era = request.headers['mcp-protocol-version'] === '2026-07-28' ? 'modern' : 'legacy';
    const exchange = this.#exchange(this.#asked(request, era, call?.id ?? ''), reply);
    const refused = refusedCall(call?.tool ?? '', failure, exchange);
    if (call !== undefined) {
      await this.#servers.answerCall(refused, exchange);
      return this.#telemetry.counted({ method: 'tools/call' }, exchange.ended.outcome);
    }
    const response = await this.#deps.caller.execute(refused);
    if (response.ok) return;
    const { http: status } = errorRow(response.error.type, response.error.origin, response.error.reason);
    const data = wireError(response);
    this.#fail(request, reply, { status, code, message: response.error.message, data }, null);
  }

  async #reject(
    request: FastifyRequest,
    reply: FastifyReply,
    rejection: Rejection,
    body: unknown,
  ): Promise<void> {
    const id = idOf(body);
    if (!isJsonObject(body) || body['method'] !== 'tools/call') {
      const principal = await this.#principalOf(request, reply, id);
      if (principal !== undefined) this.#fail(request, reply, rejection, id);
      return;
    }
    const failure = toolFailure('MALFORMED_CALL', rejection.message);
    const name = isJsonObject(body['params']) ? body['params']['name'] : undefined;
    const exchange = this.#exchange(this.#asked(request, 'modern', id ?? ''), reply);
    const refused = refusedCall(typeof name === 'string' ? name : '', failure, exchange);
    const response = await this.#deps.caller.execute(refused);
    if (response.ok) return;
    const { error } = response;
    const status = strangerStatus(error);
    const retryAfterMs = error.retryAfterMs ?? undefined;
    const told = { code: INVALID_REQUEST, message: error.message, data: wireError(response), retryAfterMs };
    this.#fail(request, reply, status === undefined ? rejection : { ...told, status }, id);
  }

  #exchange(asked: Asked, reply: FastifyReply): Exchange {
    return new Exchange(asked, reply, this.#telemetry.readerLost);
  }

  #asked(request: FastifyRequest, era: Era, id: RequestId): Asked {
    const { headers, socket } = request;
    const version = headers['mcp-protocol-version'];
    return {
      era,
      version: typeof version === 'string' ? version.slice(0, 64) : '',
      id,
      environment: environmentOf(request, () => undefined),
      context: contextIn(request),
      largeIntegers: [],
      challenge: challengeOf(this.#deps.terms, { headers, socket }),
      approvalsUrl: () => approvalsBase(this.#deps.terms, { headers, socket }),
      takesEvents: takes(headers.accept, 'text/event-stream'),
      session: era === 'legacy' ? sessionIn(headers[SESSION_HEADER]) : undefined,
    };
  }

  #sendAway(request: FastifyRequest, reply: FastifyReply, fault: RpcFault, id: RequestId | null): void {
    if (fault === TOO_MANY_STREAMS) this.#telemetry.streamsFull();
    this.#fail(request, reply, fault, id);
  }

  #fail(
    request: FastifyRequest,
    reply: FastifyReply,
    { status, code, message, data, retryAfterMs }: RpcFault,
    id: RequestId | null,
  ): void {
    this.#telemetry.refused();
    if (reply.raw.destroyed) return;
    const { headers, socket } = request;
    if (status === 401) reply.header('www-authenticate', challengeOf(this.#deps.terms, { headers, socket }));
    if (retryAfterMs !== undefined) reply.header('retry-after', retryAfterSeconds(retryAfterMs));
    const error = { code, message, ...(data !== undefined && { data }) };
    reply
      .code(status)
      .header('content-type', 'application/json')
      .send(JSON.stringify({ jsonrpc: '2.0', id, error }));
  }
}
