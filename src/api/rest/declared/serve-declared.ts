// Serves the paths that tools declare. It is asked last, where the gateway itself has no route of any method: none of its own can be hidden.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ToolRefusal, ToolResponse } from '../../../contract/call/tool-response.ts';
import type { ToolSet } from '../../../contract/tool/tool-set.ts';
import { pathSteps } from '../../../lib/http-route/route-pattern.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { CALLS_SERIES } from '../../../ports/telemetry/series/calls.ts';
import type { Metrics } from '../../../ports/telemetry/metrics.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { environmentOf, readCall } from '../execute/read-call.ts';
import { goneFrom } from '../execute/several-calls.ts';
import { sendEnvelope, callHeaders } from '../execute/write-envelope.ts';
import type { KnownRoutes } from '../server/known-routes.ts';
import { sendFailure } from '../server/problem.ts';
import { argumentsOf, type RouteArguments } from './arguments.ts';
import { RouteTable, type FoundRoute } from './route-table.ts';

export interface DeclaredNeeds {
  readonly caller: Pick<ToolCaller, 'execute'>;
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
  readonly metrics: Metrics;
}

/** Before `app.init()`. */
export function serveDeclared(server: FastifyInstance, routes: KnownRoutes, needs: DeclaredNeeds): void {
  const tables = new Tables(needs.catalog);
  const requests = needs.metrics.counter(CALLS_SERIES.ute_declared_route_requests_total);
  server.addHook('preHandler', async (request, reply) => {
    if (!request.is404) return;
    const [path = '', query = ''] = partsOf(request.url);
    if (routes.methodsOf(path).length > 0) return;
    const steps = pathSteps(path);
    const found = steps === undefined ? [] : tables.inForce().find(steps);
    if (found.length === 0) return;
    const served = found.find(({ route }) => route.method === request.method);
    if (served === undefined) refuseMethod(request, reply, found);
    else {
      requests.with(served.spec.name, String(served.route.deprecated !== undefined)).add();
      await serve(served, { request, reply, query, path }, needs);
    }
    // Without it Fastify would go on to say that there is no such route.
    await reply;
  });
}

/** Made anew when the set of tools is another, for the first request that needs it. */
class Tables {
  readonly #catalog: DeclaredNeeds['catalog'];
  #of: ToolSet | undefined;
  #table = new RouteTable([]);

  constructor(catalog: DeclaredNeeds['catalog']) {
    this.#catalog = catalog;
  }

  inForce(): RouteTable {
    const snapshot = this.#catalog.snapshot();
    if (snapshot !== this.#of) this.#table = new RouteTable(snapshot.specs);
    this.#of = snapshot;
    return this.#table;
  }
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly path: string;
  readonly query: string;
}

async function serve(found: FoundRoute, exchange: Exchange, { caller }: DeclaredNeeds): Promise<void> {
  const { request, reply, path } = exchange;
  const { name } = found.spec;
  const env = environmentOf(request, goneFrom(reply));
  const read = readArguments(found, exchange);
  const answer = caller.execute(
    read instanceof ToolFailure
      ? readCall(name, read, env)
      : readCall(name, callOf(found, read), env, pointersInCall(read)),
  );
  deprecationHeaders(reply, found);
  if (found.route.answer === 'envelope') await sendEnvelope(reply, answer);
  else sendData(reply, await answer, path);
}

/** What is wrong is a call as well: known, counted and audited before it is refused. */
function readArguments(found: FoundRoute, { query, request }: Exchange): RouteArguments | ToolFailure {
  try {
    return argumentsOf(found, { query, body: request.body });
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
}

/** A tenant in the path is the one that is meant, for credentials of several as well: the pipeline holds it against the credential. */
function callOf({ params }: FoundRoute, { arguments: args }: RouteArguments): JsonObject {
  const tenant = params.get('business_id');
  return { arguments: args, ...(tenant !== undefined && { context: { business_id: tenant } }) };
}

function pointersInCall({ largeIntegers }: RouteArguments): readonly string[] {
  return largeIntegers.map((pointer) => `/arguments${pointer}`);
}

function sendData(reply: FastifyReply, response: ToolResponse, path: string): void {
  callHeaders(reply, response);
  if (!response.ok) sendFailure(reply, failureOf(response), path);
  else reply.code(200).header('content-type', 'application/json; charset=utf-8').send(response.dataJson);
}

function failureOf({ error, meta }: ToolRefusal): ToolFailure {
  const { type, message, reason, retryable, retryAfterMs, details } = error;
  return new ToolFailure(type, message, {
    reason,
    retryable,
    ...(retryAfterMs !== null && { retryAfterMs }),
    details: { ...details, call_id: meta.callId },
  });
}

/** RFC 9745, with the successor as a link of RFC 5829. */
function deprecationHeaders(reply: FastifyReply, { route: { deprecated }, spec, params }: FoundRoute): void {
  if (deprecated === undefined) return;
  const { since, successor } = deprecated;
  const instead =
    successor?.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params.get(name) ?? '')) ??
    `/v1/tools/${encodeURIComponent(spec.name)}/execute`;
  reply.header('deprecation', `@${Date.parse(since) / 1000}`);
  reply.header('link', `<${instead}>; rel="successor-version"`);
}

function refuseMethod({ method, url }: FastifyRequest, reply: FastifyReply, found: readonly FoundRoute[]) {
  const allowed = [...new Set(found.map(({ route }) => route.method))].toSorted();
  reply.header('allow', allowed.join(', '));
  const message = `This route does not take ${method}; it takes ${allowed.join(', ')}.`;
  sendFailure(reply, toolFailure('METHOD_NOT_ALLOWED', message), partsOf(url)[0] ?? '');
}

function partsOf(url: string): readonly string[] {
  const at = url.indexOf('?');
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}
