// A tool's result held to its output schema.
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolSuccess } from '../../contract/call/tool-response.ts';
import { ForeignCheckError, type ForeignValidator } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import type { SchemaCheck } from '../../lib/json-schema/foreign/schema-check.ts';
import type { Violation } from '../../lib/json-schema/violation.ts';
import { outputInvalid } from './failures.ts';

/** Throws ToolFailure OUTPUT_INVALID; at once where that is quick, later where the event loop would be held. */
export function refuseWrongResult(
  { here, inThread }: SchemaCheck,
  { data, dataJson }: ToolSuccess,
  signal: AbortSignal,
): Promise<void> | undefined {
  const violations = here?.validateHere(data);
  if (violations === undefined) return refuseInThread(inThread, dataJson, signal);
  if (violations.length > 0) throw outputInvalid(violations);
  return undefined;
}

async function refuseInThread(output: ForeignValidator, json: string, signal: AbortSignal): Promise<void> {
  let violations: readonly Violation[];
  try {
    ({ violations } = await output.validate(json, signal));
  } catch (error) {
    if (!(error instanceof ForeignCheckError)) throw error;
    const message =
      "The tool's result could not be held to its output schema within the limits of time and memory.";
    throw new ToolFailure('OUTPUT_INVALID', message, { reason: 'SCHEMA_CHECK_FAILED', cause: error });
  }
  if (violations.length > 0) throw outputInvalid(violations);
}
