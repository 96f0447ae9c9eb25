// A tool as a protocol message: the public part only, its schemas encoded once.
import type { ToolSet } from '../../../contract/tool/tool-set.ts';
import type { ToolFunction } from '../../../contract/tool/tool-function.ts';
import { modeNumber } from '../interaction-mode.ts';
import { encodeStruct, StructError } from '../struct/struct-codec.ts';

export interface ToolMessage {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Uint8Array | undefined;
  readonly outputSchema: Uint8Array | undefined;
  readonly [field: string]: unknown;
}

const MESSAGES = new WeakMap<ToolFunction, ToolMessage>();

export function toolMessage(fn: ToolFunction, snapshot: ToolSet, disabled: boolean): ToolMessage {
  let message = MESSAGES.get(fn);
  if (message === undefined) {
    message = messageOf(fn);
    MESSAGES.set(fn, message);
  }
  return { ...message, providerName: snapshot.providerName(fn.name), disabled };
}

/** About as many bytes as the message will have. */
export function sizeOf({ description, inputSchema, outputSchema }: ToolMessage): number {
  return 1000 + description.length + (inputSchema?.length ?? 0) + (outputSchema?.length ?? 0);
}

function messageOf({ name, description, inputSchema, outputSchema, spec }: ToolFunction): ToolMessage {
  const {
    version,
    category,
    riskLevel,
    readOnly,
    idempotent,
    requiresApproval,
    isDangerous,
    tags,
    modes,
    cost,
    summary,
  } = spec.metadata;
  return {
    name,
    description,
    inputSchema: schemaBytes(inputSchema),
    outputSchema: outputSchema && schemaBytes(outputSchema),
    version,
    category,
    riskLevel,
    readOnly,
    idempotent,
    requiresApproval,
    isDangerous,
    tags,
    modes: modes.map(modeNumber),
    cost,
    toolType: spec.toolType,
    summary,
  };
}

/** A schema too deep for a Struct is left out: the tool itself can still be called. */
function schemaBytes(schema: ToolFunction['inputSchema']): Uint8Array | undefined {
  try {
    return encodeStruct(schema);
  } catch (error) {
    if (error instanceof StructError) return undefined;
    throw error;
  }
}
