// ToolFormat: how the list of tools is written for one provider, function by function.
import type { JsonObject } from '../contract/json.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { ProviderRules, StrictCost } from './provider-rules.ts';
import { toProviderSchema } from './schema/provider-schema.ts';
import { strictCostOf } from './schema/strict-schema.ts';

export interface ToolFormat {
  /** Left out: nobody refuses anything of it. */
  readonly rules?: ProviderRules;
  /** `name`: the provider's spelling. `strict`: asked for; left out where the schema cannot be strict. */
  entry(fn: ToolFunction, name: string, strict: boolean): ToolEntry;
  /** The whole list, of the texts of its entries. */
  list(entries: readonly string[]): string;
}

export interface ToolEntry {
  readonly text: string;
  /** Set where the entry is strict: what it takes of what one request may have. */
  readonly cost?: StrictCost;
}

/** What a provider is told of a function, whatever it calls the parts. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly strict: boolean;
}

/** A format of JSON whose entries are made of a definition. */
export function jsonFormat(
  rules: ProviderRules,
  entryOf: (definition: ToolDefinition, asked: { readonly strict: boolean }) => JsonObject,
  list: (entries: readonly string[]) => string = (entries) => `[${entries.join(',')}]`,
): ToolFormat {
  return {
    rules,
    list,
    entry(fn, name, asked) {
      const { schema, strict } = toProviderSchema(fn.inputSchema, rules, asked);
      const definition = { name, description: describe(fn, rules), schema, strict };
      const text = JSON.stringify(entryOf(definition, { strict: asked }));
      return strict ? { text, cost: strictCostOf(schema) } : { text };
    },
  };
}

/** The description, and the tool's summary where it says something more; no more of it than the provider takes. */
export function describe(
  fn: ToolFunction,
  { descriptionLength = Infinity }: Partial<ProviderRules> = {},
): string {
  const text = wholeDescription(fn);
  if (text.length <= descriptionLength) return text;
  const cut = text.slice(0, descriptionLength - CUT.length);
  // Half of a pair is no character, and half of a word says something else.
  return cut.replace(/[\uD800-\uDBFF]$/, '').replace(/\s\S{0,40}$/, '') + CUT;
}

/** The documentation of the tool holds what is left out. */
const CUT = ' […]';

export function wholeDescription(fn: ToolFunction): string {
  const { summary } = fn.spec.metadata;
  return summary === undefined || fn.description.includes(summary)
    ? fn.description
    : `${fn.description}\n${summary}`;
}
