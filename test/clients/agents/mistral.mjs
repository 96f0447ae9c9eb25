// The package @mistralai/mistralai, which writes members in camelCase.
import { Mistral } from '@mistralai/mistralai';
import { answersTo, MODEL_URL, QUESTION, said, STREAM, toolsOf } from './gateway.mjs';

const client = new Mistral({ apiKey: 'none', serverURL: `${MODEL_URL}/mistral` });
const tools = await toolsOf('mistral');
const messages = [{ role: 'user', content: QUESTION }];
for (;;) {
  const asked = { model: 'test', messages, tools };
  const message = STREAM ? await streamed(asked) : (await client.chat.complete(asked)).choices[0].message;
  const answers = await answersTo('mistral', message);
  if (answers.length === 0) {
    said(message.content);
    break;
  }
  messages.push({ ...message, role: 'assistant' }, ...answers);
}

/** Its SDK puts no stream together. */
async function streamed(asked) {
  let content = '';
  const toolCalls = [];
  for await (const { data } of await client.chat.stream(asked)) {
    const { delta } = data.choices[0];
    content += delta.content ?? '';
    // Its calls come whole.
    toolCalls.push(...(delta.toolCalls ?? []));
  }
  return { role: 'assistant', content, toolCalls };
}
