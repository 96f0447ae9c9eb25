// The package @aws-sdk/client-bedrock-runtime, whose bytes are no base64.
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { answersTo, MODEL_URL, QUESTION, said, STREAM, toolsOf } from './gateway.mjs';

const client = new BedrockRuntimeClient({
  region: 'eu-central-1',
  endpoint: `${MODEL_URL}/bedrock`,
  credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
  requestHandler: new NodeHttpHandler(),
  maxAttempts: 1,
});
const toolConfig = await toolsOf('bedrock');
const messages = [{ role: 'user', content: [{ text: QUESTION }] }];
for (;;) {
  const asked = { modelId: 'test', messages, toolConfig };
  const message = STREAM
    ? await streamed(asked)
    : (await client.send(new ConverseCommand(asked))).output.message;
  const answers = await answersTo('bedrock', message);
  if (answers.length === 0) {
    said(message.content[0].text);
    break;
  }
  messages.push(message, ...withBytes(answers));
}

/** In JSON they are base64, as the API itself has them; the SDK takes them as bytes. */
function withBytes(answers) {
  return JSON.parse(JSON.stringify(answers), (key, value) =>
    key === 'bytes' ? Buffer.from(value, 'base64') : value,
  );
}

/** Its SDK puts no stream together. */
async function streamed(asked) {
  const content = [];
  const { stream } = await client.send(new ConverseStreamCommand(asked));
  for await (const { contentBlockStart: start, contentBlockDelta: more, contentBlockStop: stop } of stream) {
    if (start) content[start.contentBlockIndex] = { toolUse: { ...start.start.toolUse, input: '' } };
    if (more?.delta.toolUse) content[more.contentBlockIndex].toolUse.input += more.delta.toolUse.input;
    if (more?.delta.text) {
      content[more.contentBlockIndex] ??= { text: '' };
      content[more.contentBlockIndex].text += more.delta.text;
    }
    const use = stop && content[stop.contentBlockIndex].toolUse;
    if (use) use.input = JSON.parse(use.input);
  }
  return { role: 'assistant', content };
}
