// What Mistral takes; it writes tools and calls as OpenAI does.
import type { ProviderRules } from '../provider-rules.ts';

export const MISTRAL_RULES: ProviderRules = {
  title: 'Mistral',
  asOf: '2026-11-24',
  sources: ['https://docs.mistral.ai/capabilities/function_calling', 'https://docs.mistral.ai/api'],
  schema: { accepts: () => true, isSubset: false, needsItems: true, needsObjects: true },
};
