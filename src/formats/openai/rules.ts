// What OpenAI takes, in Chat Completions and in the Responses API alike.
import type { JsonValue } from '../../contract/json.ts';
import { words, type ProviderRules } from '../provider-rules.ts';

const STRICT_KEYWORDS = words(
  '$ref $defs type enum anyOf properties required additionalProperties items title description const pattern ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems',
);
const FORMATS: ReadonlySet<JsonValue> = words('date-time time date duration email hostname ipv4 ipv6 uuid');

export const OPENAI_RULES: ProviderRules = {
  title: 'OpenAI',
  asOf: '2026-11-24',
  sources: [
    'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas',
    'https://platform.openai.com/docs/guides/function-calling',
    'https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools',
  ],
  descriptionLength: 1_024,
  // Tools that are not strict may say all of 2020-12.
  schema: { accepts: () => true, isSubset: false, needsItems: true, needsObjects: true },
  strict: {
    accepts: (keyword, value) =>
      keyword === 'format'
        ? FORMATS.has(value)
        : STRICT_KEYWORDS.has(keyword) && (keyword !== 'enum' || isOfScalars(value)),
    isSubset: true,
    requiresAll: true,
    takesCycles: true,
    oneType: false,
    requiresDeclared: true,
    most: {
      properties: 5_000,
      depth: 10,
      enumValues: 1_000,
      longEnumCharacters: 15_000,
      longEnumValues: 250,
      characters: 120_000,
    },
  },
};

function isOfScalars(values: JsonValue): boolean {
  return Array.isArray(values) && values.every((value) => typeof value !== 'object' || value === null);
}
