// A call as Anthropic's models ask for it: a content block of type tool_use.
import { partOf, type ProviderCallReader } from '../provider-call.ts';

export const anthropicCall: ProviderCallReader = (said) =>
  said['type'] === 'tool_use'
    ? { name: partOf(said, 'name'), arguments: partOf(said, 'input'), id: partOf(said, 'id') }
    : undefined;
