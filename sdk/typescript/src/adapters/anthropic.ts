// Anthropic's Messages.
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

/** The part of an `@anthropic-ai/sdk` client that is used. */
export interface AnthropicClient {
  readonly messages: {
    create(body: never, options?: { readonly signal?: AbortSignal }): PromiseLike<unknown>;
  };
}

const messages: Dialect<Loose> = {
  format: 'anthropic',
  read(response) {
    const blocks = listOf(member(response, 'content'));
    const usage = member(response, 'usage');
    return {
      messages: blocks.length === 0 ? [] : [{ role: 'assistant', content: blocks }],
      text: blocks
        .filter((block) => textMember(block, 'type') === 'text')
        .map((block) => textMember(block, 'text'))
        .join(''),
      calls: blocks
        .filter((block) => textMember(block, 'type') === 'tool_use')
        .map((block) => ({
          id: textMember(block, 'id'),
          name: textMember(block, 'name'),
          ...fromValue(member(block, 'input')),
        })),
      usage: {
        inputTokens: countOf(usage, 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'),
        outputTokens: countOf(usage, 'output_tokens'),
      },
    };
  },
  results: (answered) => [
    {
      role: 'user',
      content: answered.map(({ call, envelope }) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: textOfAnswer(envelope),
        ...(!envelope.ok && { is_error: true }),
      })),
    },
  ],
};

export const anthropic = {
  ...messages,
  /** For `tools` of messages.create. `Tool` is the SDK's type of one. */
  tools: <Tool = unknown>(tools: Toolbox) => tools.as('anthropic') as Promise<Tool[]>,
  /** What to append to the messages after a response: the response itself, and the answers of the tools that it calls. */
  answer: <Message = Loose>(tools: Toolbox, response: unknown) =>
    answerCalls(messages, tools, response) as Promise<Message[]>,
  /** For `run`. `params`: the body of a request but for messages and tools. */
  model: (client: AnthropicClient, params: Loose): Model<Loose> => ({
    ...messages,
    async generate({ messages: said, tools, signal }) {
      const body = { ...params, messages: said, tools } as never;
      return messages.read(await client.messages.create(body, { signal }));
    },
  }),
};
