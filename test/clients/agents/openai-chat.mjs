// The package openai, with Chat Completions.
import OpenAI from 'openai';
import { answersTo, MODEL_URL, QUESTION, said, STREAM, toolsOf } from './gateway.mjs';

const client = new OpenAI({ apiKey: 'none', baseURL: `${MODEL_URL}/openai/v1`, maxRetries: 0 });
const tools = await toolsOf('openai');
const messages = [{ role: 'user', content: QUESTION }];
for (;;) {
  const asked = { model: 'test', messages, tools };
  const completion = STREAM
    ? await client.chat.completions.stream(asked).finalChatCompletion()
    : await client.chat.completions.create(asked);
  const { message } = completion.choices[0];
  const answers = await answersTo('openai', completion);
  if (answers.length === 0) {
    said(message.content);
    break;
  }
  messages.push(message, ...answers);
}
