// Schema dialects: which JSON Schema keywords each LLM provider takes in a tool's parameters.
import type { JsonValue } from '../contract/json.ts';

export type SchemaProvider = 'openai' | 'anthropic' | 'gemini';

export interface SchemaDialect {
  accepts(keyword: string, value: JsonValue): boolean;
  /**
   * Only some keywords are known, `$ref` stands alone and points at `#` or an entry of the root's `$defs`,
   * and a schema is never `true` or `false`.
   */
  readonly isSubset: boolean;
}

/** Tools that are not strict take the whole of 2020-12 from OpenAI and Anthropic, below the root. */
const EVERYTHING: SchemaDialect = { accepts: () => true, isSubset: false };

const STRICT_STRING_FORMATS = new Set<JsonValue>([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);

const STRUCTURE =
  '$ref $defs type enum anyOf properties required additionalProperties items title description';
const OPENAI_STRICT = words(
  `${STRUCTURE} const pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems`,
);
const ANTHROPIC_STRICT = words(`${STRUCTURE} const format minItems`);
const GEMINI = words(
  `${STRUCTURE} $id $anchor format prefixItems minItems maxItems minimum maximum propertyOrdering`,
);

const openAiStrict: SchemaDialect = {
  accepts: (keyword, value) =>
    keyword === 'format' ? STRICT_STRING_FORMATS.has(value) : OPENAI_STRICT.has(keyword),
  isSubset: true,
};

const anthropicStrict: SchemaDialect = {
  accepts(keyword, value) {
    if (keyword === 'format') return STRICT_STRING_FORMATS.has(value) || value === 'uri';
    if (keyword === 'minItems') return value === 0 || value === 1;
    return ANTHROPIC_STRICT.has(keyword);
  },
  isSubset: true,
};

const gemini: SchemaDialect = { accepts: (keyword) => GEMINI.has(keyword), isSubset: true };

export const DIALECTS: Readonly<Record<SchemaProvider, SchemaDialect>> = {
  openai: EVERYTHING,
  anthropic: EVERYTHING,
  gemini,
};

/** Gemini has no strict mode of its own. */
export const STRICT_DIALECTS: Readonly<Partial<Record<SchemaProvider, SchemaDialect>>> = {
  openai: openAiStrict,
  anthropic: anthropicStrict,
};

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
