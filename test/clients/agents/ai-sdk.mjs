// The package ai with @ai-sdk/openai, which runs the loop itself: each tool of it is a call of the gateway's.
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { answersTo, MODEL_URL, QUESTION, said, STREAM, toolsOf } from './gateway.mjs';

const openai = createOpenAI({ apiKey: 'none', baseURL: `${MODEL_URL}/openai/v1` });
const tools = Object.fromEntries(
  (await toolsOf('openai')).map(({ function: { name, description, parameters } }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: async (input, { toolCallId: id }) => {
        const [{ content }] = await answersTo('openai', [
          { id, type: 'function', function: { name, arguments: JSON.stringify(input) } },
        ]);
        return content;
      },
    }),
  ]),
);
const asked = {
  model: openai.chat('test'),
  prompt: QUESTION,
  tools,
  stopWhen: stepCountIs(5),
  maxRetries: 0,
  onError: ({ error }) => {
    throw error;
  },
};
said(await (STREAM ? streamText(asked) : await generateText(asked)).text);
