// The providers whose models' messages are taken as they came, each with its reader.
import { anthropicMessage } from '../anthropic/messages.ts';
import { bedrockMessage } from '../bedrock/messages.ts';
import { geminiMessage } from '../gemini/messages.ts';
import { mistralMessage } from '../mistral/messages.ts';
import { openAiMessage } from '../openai/chat-messages.ts';
import { openAiResponsesMessage } from '../openai/response-items.ts';
import type { MessageReader } from './model-message.ts';

/** By the name that its list of tools has in `GET /v1/tools?format=`. */
export const MESSAGE_READERS = {
  openai: openAiMessage,
  'openai-responses': openAiResponsesMessage,
  anthropic: anthropicMessage,
  gemini: geminiMessage,
  bedrock: bedrockMessage,
  mistral: mistralMessage,
} as const satisfies Record<string, MessageReader>;

export type ProviderName = keyof typeof MESSAGE_READERS;

export const PROVIDER_NAMES = Object.keys(MESSAGE_READERS) as [ProviderName, ...ProviderName[]];

export function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(MESSAGE_READERS, name);
}
