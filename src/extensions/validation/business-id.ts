// The argument business_id, as older callers send it: it must be the caller's tenant, and goes where no tool asks for it.
import type { JsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { namedProperties } from '../../lib/json-schema/named-properties.ts';
import { foreignTenant } from './failures.ts';

export function declaresBusinessId({ inputSchema }: ToolFunction): boolean {
  return namedProperties(inputSchema).has('business_id');
}

/** The same object where there is nothing to take out. */
export function ofThisTenant(call: ToolCall, args: JsonObject, isDeclared: boolean): JsonObject {
  if (args['business_id'] === undefined) return args;
  const { business_id: businessId, ...rest } = args;
  if (businessId !== call.context.tenantId) throw foreignTenant();
  return isDeclared ? args : rest;
}
