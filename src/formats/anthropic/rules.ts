// What Anthropic takes in the Messages API.
import type { JsonValue } from '../../contract/json.ts';
import { words, type ProviderRules } from '../provider-rules.ts';

const STRICT_KEYWORDS = words(
  '$ref $defs type enum anyOf properties required additionalProperties items title description const',
);
const FORMATS: ReadonlySet<JsonValue> = words(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid',
);

/** Of its message where a name is refused; nothing is published. */
export const ANTHROPIC_PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

export const ANTHROPIC_RULES: ProviderRules = {
  title: 'Anthropic',
  asOf: '2026-11-24',
  sources: [
    'https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use',
    'https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations',
    'https://github.com/anthropics/claude-code/issues/79418',
  ],
  propertyName: ANTHROPIC_PROPERTY_NAME,
  // All of 2020-12, below the root.
  schema: { accepts: () => true, isSubset: false },
  strict: {
    accepts(keyword, value) {
      if (keyword === 'format') return FORMATS.has(value);
      if (keyword === 'minItems') return value === 0 || value === 1;
      if (keyword === 'enum') return Array.isArray(value) && value.every(isScalar);
      return STRICT_KEYWORDS.has(keyword) && (keyword !== 'const' || isScalar(value));
    },
    isSubset: true,
    requiresAll: false,
    takesCycles: false,
    oneType: true,
    requiresDeclared: true,
    // Nothing is published for one schema; these keep what is compiled from it small.
    most: {
      properties: 500,
      depth: 10,
      enumValues: 1_000,
      longEnumCharacters: 15_000,
      longEnumValues: 250,
      characters: 120_000,
    },
    perRequest: { tools: 20, optionalProperties: 24, unions: 16 },
  },
};

function isScalar(value: JsonValue): boolean {
  return typeof value !== 'object' || value === null;
}
