// What Gemini takes under parametersJsonSchema, in the Gemini API and in Vertex AI alike.
import { words, type ProviderRules } from '../provider-rules.ts';

const KEYWORDS = words(
  '$ref $defs $id $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf ' +
    'properties additionalProperties required propertyOrdering',
);

export const GEMINI_RULES: ProviderRules = {
  title: 'Gemini',
  asOf: '2026-11-24',
  sources: [
    'https://ai.google.dev/api/caching#FunctionDeclaration',
    'https://ai.google.dev/api/generate-content#FIELDS.response_json_schema',
    'https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support',
    'https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling',
  ],
  propertyName: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  schema: {
    accepts: (keyword, value) =>
      KEYWORDS.has(keyword) &&
      (keyword !== 'enum' || (Array.isArray(value) && value.every((each) => typeof each === 'string'))),
    isSubset: true,
    needsItems: true,
    needsObjects: true,
    listsTextsOnly: true,
    requiresDeclared: true,
    opensCycles: true,
  },
};
