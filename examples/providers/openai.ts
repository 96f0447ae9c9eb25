// An agent with a model of OpenAI: model, tools, model, until it has its last word.
import OpenAI from 'openai';
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources';
import { startFakeModel } from './fake-model.ts';
import { runToolCalls, toolsFor } from './gateway.ts';

const { OPENAI_API_KEY, OPENAI_MODEL = 'gpt-5-mini' } = process.env;
const fake = OPENAI_API_KEY === undefined ? await startFakeModel() : undefined;
const client = new OpenAI(fake === undefined ? {} : { apiKey: 'none', baseURL: `${fake.url}/v1` });

const tools = await toolsFor<ChatCompletionTool>('openai');
const messages: ChatCompletionMessageParam[] = [
  { role: 'user', content: process.argv[2] ?? 'What is 2 + 3?' },
];
for (;;) {
  const stream = client.chat.completions.stream({ model: OPENAI_MODEL, messages, tools });
  stream.on('content', (text) => process.stdout.write(text));
  const { choices } = await stream.finalChatCompletion();
  const [{ message } = { message: undefined }] = choices;
  if (message === undefined) break;

  const answers = await runToolCalls<ChatCompletionMessageParam>('openai', message);
  if (answers.length === 0) break;
  messages.push(message, ...answers);
}
process.stdout.write('\n');
fake?.close();
