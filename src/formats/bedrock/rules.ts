// What Amazon Bedrock takes in Converse: its own limits, and those of the models behind it that refuse the most.
import { ANTHROPIC_PROPERTY_NAME } from '../anthropic/rules.ts';
import type { ProviderRules } from '../provider-rules.ts';

export const BEDROCK_RULES: ProviderRules = {
  title: 'Bedrock',
  asOf: '2026-11-24',
  sources: [
    'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html',
    'https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use.html',
  ],
  propertyName: ANTHROPIC_PROPERTY_NAME,
  schema: { accepts: () => true, isSubset: false, needsItems: true, needsObjects: true },
};
