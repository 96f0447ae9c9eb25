// The http executor: a tool is one request to a fixed upstream, with typed places for the arguments.
import { isJsonObject } from '../../contract/json.ts';
import type {
  Connection,
  Executor,
  ExecutorPlugin,
  ExecutorTarget,
  PreparedFunction,
} from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/tool-call.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import type { ToolResult } from '../../contract/tool-response.ts';
import type { HttpClient, HttpResponse } from '../../ports/http-client.ts';
import { compileRequest, type CompiledRequest, type RequestBase } from './compile-request.ts';
import {
  httpConnectionSchema,
  httpOptionsSchema,
  type HttpOptions,
  type RequestOptions,
} from './options-schema.ts';
import { readResponse } from './read-response.ts';
import { slotsOfOptions } from './request-slots.ts';
import { upstreamFailure } from './upstream-failure.ts';

export type { HttpOptions } from './options-schema.ts';

const DEFAULT_MAX_RESPONSE_BYTES = 1024 * 1024;

export const httpExecutor: ExecutorPlugin<HttpOptions, { http: HttpClient }> = {
  name: 'http',
  summary:
    'Calls a REST API: fixed scheme, host and path, arguments in typed places, no redirects, bounded answers.',
  optionsSchema: httpOptionsSchema,
  connectionTypes: { http: httpConnectionSchema },
  placeholders: slotsOfOptions,
  create: ({ http }) => new HttpExecutor(http),
};

class HttpExecutor implements Executor<HttpOptions> {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  prepare({ function: fn, options, connection }: ExecutorTarget<HttpOptions>): PreparedFunction {
    const request = requestOf(options, fn);
    const compiled = compileRequest(request, baseOf(options, connection), parametersOf(fn));
    const isSuccess = successTest(request);
    return {
      execute: (call) => this.#execute(call, request, compiled, isSuccess),
      yieldsPlainJson: true,
    };
  }

  async #execute(
    call: ToolCall,
    {
      max_response_bytes: maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES,
      response: kind = 'auto',
    }: RequestOptions,
    compiled: CompiledRequest,
    isSuccess: (status: number) => boolean,
  ): Promise<ToolResult> {
    const { method, origin } = compiled;
    const filled = compiled.fill(call.arguments);
    let response: HttpResponse;
    try {
      response = await this.#http.request({
        ...filled,
        method,
        origin,
        maxResponseBytes,
        signal: call.signal,
      });
    } catch (error) {
      throw preferStatus(error, isSuccess);
    }
    const { status } = response;
    if (!isSuccess(status)) throw upstreamFailure(status, response, Date.now());
    return method === 'HEAD' ? { data: { status } } : readResponse(response, kind);
  }
}

function requestOf({ actions, ...own }: HttpOptions, { action }: ToolFunction): RequestOptions {
  if (action === undefined) {
    if (actions === undefined) return own;
    throw new Error('implementation_config.actions is given, but the tool declares no actions.');
  }
  const request =
    actions !== undefined && Object.hasOwn(actions, action.name) ? actions[action.name] : undefined;
  if (request !== undefined) return request;
  throw new Error(`implementation_config.actions has no request for the action "${action.name}".`);
}

function baseOf(options: HttpOptions, connection: Connection | undefined): RequestBase | undefined {
  if (options.connection === undefined) return undefined;
  if (connection === undefined) throw new Error(`There is no connection "${options.connection}".`);
  const { base_url: baseUrl, headers = {} } = httpConnectionSchema.parse(connection.settings);
  return { url: new URL(baseUrl), headers };
}

function parametersOf({ inputSchema }: ToolFunction): readonly string[] {
  const properties = inputSchema['properties'];
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

function successTest({ success_status: listed }: RequestOptions): (status: number) => boolean {
  if (listed === undefined) return (status) => status >= 200 && status < 300;
  const statuses = new Set(listed);
  return (status) => statuses.has(status);
}

/** An error page that is too large is still first of all the upstream's error. */
function preferStatus(error: unknown, isSuccess: (status: number) => boolean): unknown {
  if (!(error instanceof ToolFailure) || error.type !== 'OUTPUT_TOO_LARGE') return error;
  const { status } = error.details;
  return typeof status === 'number' && !isSuccess(status)
    ? upstreamFailure(status, undefined, Date.now())
    : error;
}
