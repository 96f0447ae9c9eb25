// The packages @langchain/core and @langchain/openai.
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { answersTo, MODEL_URL, QUESTION, said, STREAM, toolsOf } from './gateway.mjs';

const model = new ChatOpenAI({
  model: 'test',
  apiKey: 'none',
  maxRetries: 0,
  configuration: { baseURL: `${MODEL_URL}/openai/v1` },
}).bindTools(await toolsOf('openai'));
const messages = [new HumanMessage(QUESTION)];
for (;;) {
  const message = STREAM ? await streamed() : await model.invoke(messages);
  const answers = await answersTo('openai', message.tool_calls);
  if (answers.length === 0) {
    said(message.content);
    break;
  }
  messages.push(message, ...answers);
}

async function streamed() {
  let whole;
  for await (const chunk of await model.stream(messages))
    whole = whole === undefined ? chunk : whole.concat(chunk);
  return whole;
}
