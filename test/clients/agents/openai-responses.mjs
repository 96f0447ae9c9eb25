// The package openai, with the Responses API.
import OpenAI from 'openai';
import { answersTo, MODEL_URL, QUESTION, said, STREAM, toolsOf } from './gateway.mjs';

const client = new OpenAI({ apiKey: 'none', baseURL: `${MODEL_URL}/openai/v1`, maxRetries: 0 });
const tools = await toolsOf('openai-responses');
const input = [{ role: 'user', content: QUESTION }];
for (;;) {
  const asked = { model: 'test', input, tools };
  const response = STREAM
    ? await client.responses.stream(asked).finalResponse()
    : await client.responses.create(asked);
  const answers = await answersTo('openai-responses', response);
  if (answers.length === 0) {
    said(response.output_text);
    break;
  }
  input.push(...response.output, ...answers);
}
