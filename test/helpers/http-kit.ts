// An http tool over a real client in a world of a test's own: one call, its result or its failure.
import type { JsonObject } from '../../src/contract/json.ts';
import type { ToolResult } from '../../src/contract/call/tool-response.ts';
import type { PreparedFunction } from '../../src/contract/plugin.ts';
import { httpConnectionSchema } from '../../src/executors/http/connection-schema.ts';
import { httpExecutor } from '../../src/executors/http/index.ts';
import { httpOptionsSchema } from '../../src/executors/http/options-schema.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { HttpClient } from '../../src/ports/egress/http-client.ts';
import { callOf, functionOf } from './call-kit.ts';

export interface HttpTool {
  readonly http: HttpClient;
  readonly options: JsonObject;
  /** Settings of the connection named "upstream", as written in YAML. */
  readonly connection?: JsonObject;
  readonly idempotent?: boolean;
  readonly allowPrivate?: readonly string[];
  readonly clock?: Clock;
}

/** Reads options and connection by their schemas first, as the registry does. */
export async function prepareHttp(tool: HttpTool): Promise<PreparedFunction> {
  const { http, connection, idempotent = false, allowPrivate = [], clock = new SystemClock() } = tool;
  const options = httpOptionsSchema.parse(
    connection === undefined ? tool.options : { connection: 'upstream', ...tool.options },
  );
  const settings = connection && { type: 'http', ...connection };
  if (settings !== undefined) httpConnectionSchema.parse(settings);
  const executor = httpExecutor.create({
    http,
    clock,
    settings: { allowPrivate, allowPorts: allowPrivate.length === 0 ? [] : ['1-65535'] },
  });
  return executor.prepare({
    function: functionOf({ metadata: { idempotent } }),
    options,
    ...(settings === undefined ? {} : { connection: { name: 'upstream', type: 'http', settings } }),
  });
}

export async function callHttp(
  tool: HttpTool,
  args: JsonObject = {},
  signal: AbortSignal = AbortSignal.timeout(10_000),
): Promise<ToolResult> {
  const prepared = await prepareHttp(tool);
  return prepared.execute(callOf({ arguments: args, signal }), () => {});
}
