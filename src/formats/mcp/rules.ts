// What MCP clients take in a tools/list result: all of JSON Schema, as long as it is an object and its properties are.
import type { ProviderRules } from '../provider-rules.ts';

export const MCP_RULES: ProviderRules = {
  title: 'MCP',
  asOf: '2026-11-24',
  sources: ['https://modelcontextprotocol.io/specification/2025-11-25/server/tools'],
  schema: { accepts: () => true, isSubset: false, needsObjects: true },
};
