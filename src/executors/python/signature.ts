// Signature: what a Python function takes, compared at load with what its tool's schema promises callers.
import { z } from 'zod';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';

const signatureSchema = z.object({
  is_async: z.boolean(),
  takes_context: z.boolean(),
  /** Has **kwargs, or does not tell. */
  accepts_any: z.boolean(),
  parameters: z.array(z.string()),
  required: z.array(z.string()),
});

export type Signature = Readonly<z.infer<typeof signatureSchema>>;

const checkedSchema = z.object({ signature: signatureSchema, files: z.array(z.string()) });

/** The answer to a check: what the function takes, and the files that have been imported for it. */
export function readChecked(data: JsonValue): z.infer<typeof checkedSchema> {
  return checkedSchema.parse(data);
}

/** Throws where the schema allows calls that the function is certain to refuse. */
export function checkSignature(fn: ToolFunction, signature: Signature): void {
  const { properties, additionalProperties } = fn.inputSchema;
  if (!isJsonObject(properties)) return;
  if (signature.takes_context && Object.hasOwn(properties, 'context')) {
    throw new Error(
      'input_schema must not have a property named context: the Python function takes `context` from the gateway.',
    );
  }
  const unknown = Object.keys(properties).find((name) => !signature.parameters.includes(name));
  if (unknown !== undefined && !signature.accepts_any) {
    throw new Error(
      `input_schema has the property ${unknown}, but the Python function has no such parameter; it takes ${listOf(signature.parameters)}.`,
    );
  }
  const missing = signature.required.find((name) => !Object.hasOwn(properties, name));
  if (missing !== undefined && additionalProperties === false) {
    throw new Error(
      `the Python function needs an argument named ${missing}, but input_schema has no such property and allows no others.`,
    );
  }
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'no arguments' : names.join(', ');
}
