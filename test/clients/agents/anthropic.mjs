// The package @anthropic-ai/sdk.
import Anthropic from '@anthropic-ai/sdk';
import { answersTo, MODEL_URL, QUESTION, said, STREAM, toolsOf } from './gateway.mjs';

const client = new Anthropic({ apiKey: 'none', baseURL: `${MODEL_URL}/anthropic`, maxRetries: 0 });
const tools = await toolsOf('anthropic');
const messages = [{ role: 'user', content: QUESTION }];
for (;;) {
  const asked = { model: 'test', max_tokens: 1_000, messages, tools };
  const message = STREAM
    ? await client.messages.stream(asked).finalMessage()
    : await client.messages.create(asked);
  const answers = await answersTo('anthropic', message);
  if (answers.length === 0) {
    said(message.content[0].text);
    break;
  }
  messages.push({ role: message.role, content: message.content }, ...answers);
}
