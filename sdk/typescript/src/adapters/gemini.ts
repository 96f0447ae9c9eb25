// Gemini's generateContent.
import {
  answerCalls,
  countOf,
  fromValue,
  listOf,
  member,
  textMember,
  type Dialect,
  type Loose,
  type Model,
} from '../loop/dialect.ts';
import { textOfAnswer, type Toolbox } from '../loop/toolbox.ts';

/** The part of a `@google/genai` client that is used. */
export interface GeminiClient {
  readonly models: { generateContent(params: never): PromiseLike<unknown> };
}

const contents: Dialect<Loose> = {
  format: 'gemini',
  read(response) {
    const content = member(listOf(member(response, 'candidates'))[0], 'content');
    const parts = listOf(member(content, 'parts'));
    const usage = member(response, 'usageMetadata');
    return {
      messages: content === undefined ? [] : [content as Loose],
      text: parts
        .filter((part) => member(part, 'thought') !== true)
        .map((part) => textMember(part, 'text'))
        .join(''),
      calls: parts
        .map((part) => member(part, 'functionCall'))
        .filter((call) => call !== undefined)
        .map((call) => ({
          id: textMember(call, 'id'),
          name: textMember(call, 'name'),
          ...fromValue(member(call, 'args')),
        })),
      usage: {
        inputTokens: countOf(usage, 'promptTokenCount', 'toolUsePromptTokenCount'),
        outputTokens: countOf(usage, 'candidatesTokenCount', 'thoughtsTokenCount'),
      },
    };
  },
  results: (answered) => [
    {
      role: 'user',
      parts: answered.map(({ call, envelope }) => ({
        functionResponse: {
          ...(call.id !== '' && { id: call.id }),
          name: call.name,
          response: envelope.ok ? { output: envelope.data } : { error: textOfAnswer(envelope) },
        },
      })),
    },
  ],
};

/** A gateway without tools lists none, and Gemini takes no empty list. */
const toolsOf = (tools: unknown) => (JSON.stringify(tools).includes('"name"') ? { tools } : {});

export const gemini = {
  ...contents,
  /** For `config.tools` of generateContent. `Tool` is the SDK's type of one. */
  tools: <Tool = unknown>(tools: Toolbox) => tools.as('gemini') as Promise<Tool[]>,
  /** What to append to the contents after a response. */
  answer: <Content = Loose>(tools: Toolbox, response: unknown) =>
    answerCalls(contents, tools, response) as Promise<Content[]>,
  /** For `run`. `params`: model and config, but for contents and tools. */
  model: (client: GeminiClient, { config, ...params }: Loose): Model<Loose> => ({
    ...contents,
    async generate({ messages, tools, signal }) {
      const all = { ...(config as object | undefined), ...toolsOf(tools), abortSignal: signal };
      const body = { ...params, contents: messages, config: all } as never;
      return contents.read(await client.models.generateContent(body));
    },
  }),
};
