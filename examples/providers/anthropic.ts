// The same agent with a model of Anthropic: but for the SDK's own words, two lines differ.
import Anthropic from '@anthropic-ai/sdk';
import type { MessageParam, ToolUnion } from '@anthropic-ai/sdk/resources/messages';
import { startFakeModel } from './fake-model.ts';
import { runToolCalls, toolsFor } from './gateway.ts';

const { ANTHROPIC_API_KEY, ANTHROPIC_MODEL = 'claude-sonnet-4-5' } = process.env;
const fake = ANTHROPIC_API_KEY === undefined ? await startFakeModel() : undefined;
const client = new Anthropic(fake === undefined ? {} : { apiKey: 'none', baseURL: fake.url });

const tools = await toolsFor<ToolUnion>('anthropic');
const messages: MessageParam[] = [{ role: 'user', content: process.argv[2] ?? 'What is 2 + 3?' }];
for (;;) {
  const stream = client.messages.stream({ model: ANTHROPIC_MODEL, max_tokens: 4_096, messages, tools });
  stream.on('text', (text) => process.stdout.write(text));
  const { role, content } = await stream.finalMessage();

  const answers = await runToolCalls<MessageParam>('anthropic', { role, content });
  if (answers.length === 0) break;
  messages.push({ role, content }, ...answers);
}
process.stdout.write('\n');
fake?.close();
