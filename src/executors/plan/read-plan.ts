// Reads a plan out of the arguments of a call: hostile text, of which every field is held to a shape and a size.
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { isJsonObject } from '../../contract/json.ts';
import { hasHidden } from '../../lib/text/hidden-text.ts';
import { invalid } from './plan-failures.ts';

const MOST_CHARS = 32 * 1024;
const LONGEST_DESCRIPTION = 1_000;
/** The schema of such arguments costs little to check, whoever wrote it. */
const MOST_SCHEMA_CHARS = 8 * 1024;

export interface Plan {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly steps: readonly JsonValue[];
  readonly result?: string;
  /** By their ids, in order; those of groups too. */
  readonly calls: readonly PlannedCall[];
}

export interface PlannedCall {
  readonly id: string;
  readonly tool: string;
}

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

const planSchema = z.strictObject({
  name: z
    .string('must be a name')
    .regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be a small letter, then up to 39 small letters, digits or "_"'),
  description: z
    .string('must say in a sentence what the plan is for')
    .regex(/\S/, 'must say in a sentence what the plan is for')
    .max(LONGEST_DESCRIPTION, `must have at most ${LONGEST_DESCRIPTION} characters`),
  input_schema: z
    .custom<JsonObject>((value) => isJsonObject(value as JsonValue), 'must be a JSON Schema of an object')
    .refine(
      (schema) => JSON.stringify(schema).length <= MOST_SCHEMA_CHARS,
      `must have at most ${MOST_SCHEMA_CHARS} characters`,
    )
    .optional(),
  steps: z.array(z.json(), 'must be a list of steps').min(1, 'must hold a step'),
  result: z.string('must be an expression').min(1).optional(),
});

/** Throws ToolFailure VALIDATION (PLAN_INVALID) with every violation. */
export function readPlan(args: JsonObject, mostSteps: number): Plan {
  const text = JSON.stringify(args);
  // Whoever approves it sees all of it, and so does every model that is shown the tool.
  if (hasHidden(text)) throw invalid([{ pointer: '', message: 'must hold no hidden characters' }]);
  if (text.length > MOST_CHARS)
    throw invalid([{ pointer: '', message: `must have at most ${MOST_CHARS} characters` }]);
  const read = planSchema.safeParse(args);
  if (!read.success)
    throw invalid(read.error.issues.map(({ path, message }) => ({ pointer: `/${path.join('/')}`, message })));
  const { name, description, input_schema: inputSchema = NO_ARGUMENTS, steps, result } = read.data;
  const calls = steps.flatMap(callsOf);
  if (calls.length > mostSteps)
    throw invalid([{ pointer: '/steps', message: `must hold at most ${mostSteps} steps` }]);
  return { name, description, inputSchema, steps, calls, ...(result !== undefined && { result }) };
}

/** Names of the tools that the arguments ask for, each once. Of arguments that are no plan: none. */
export function toolsIn({ steps }: JsonObject): readonly string[] {
  const calls = Array.isArray(steps) ? steps.slice(0, MOST_CHARS).flatMap(callsOf) : [];
  return [...new Set(calls.map(({ tool }) => tool))];
}

/** What a step is that is none, the composite says. */
function callsOf(entry: JsonValue): readonly PlannedCall[] {
  if (!isJsonObject(entry)) return [];
  const { parallel } = entry;
  const steps = Array.isArray(parallel) ? parallel.filter(isJsonObject) : [entry];
  return steps.flatMap(({ id, tool }) =>
    typeof id === 'string' && typeof tool === 'string' ? [{ id, tool }] : [],
  );
}
