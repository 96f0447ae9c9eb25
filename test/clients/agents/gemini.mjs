// The package @google/genai.
import { GoogleGenAI } from '@google/genai';
import { answersTo, MODEL_URL, QUESTION, said, STREAM, toolsOf } from './gateway.mjs';

const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `${MODEL_URL}/gemini` } });
const config = { tools: await toolsOf('gemini'), automaticFunctionCalling: { disable: true } };
const contents = [{ role: 'user', parts: [{ text: QUESTION }] }];
for (;;) {
  const asked = { model: 'gemini-test', contents, config };
  const content = STREAM
    ? await streamed(asked)
    : (await client.models.generateContent(asked)).candidates[0].content;
  const answers = await answersTo('gemini', content);
  if (answers.length === 0) {
    said(content.parts.map(({ text = '' }) => text).join(''));
    break;
  }
  contents.push(content, ...answers);
}

async function streamed(asked) {
  const parts = [];
  for await (const chunk of await client.models.generateContentStream(asked))
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
  return { role: 'model', parts: parts.filter((part) => part.text !== '') };
}
