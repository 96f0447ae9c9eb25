// ToolFormat: what every format writer gets, and how a function describes itself to a model.
import type { JsonValue } from '../contract/json.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';

export interface FormatRequest {
  readonly functions: readonly ToolFunction[];
  /** The provider's spelling of a function's name. */
  readonly nameOf: (functionName: string) => string;
  /** Asks for the provider's strict mode; left out for a function whose schema it cannot express. */
  readonly strict: boolean;
}

export type FormatWriter = (request: FormatRequest) => JsonValue;

/** The description, and the tool's summary where it says something more. */
export function describe(fn: ToolFunction): string {
  const { summary } = fn.spec.metadata;
  return summary === undefined || fn.description.includes(summary)
    ? fn.description
    : `${fn.description}\n${summary}`;
}
