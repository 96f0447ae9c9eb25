// OpenAI, and whatever speaks its protocols: chat completions and responses.
import {
  answerCalls,
  countOf,
  fromText,
  listOf,
  member,
  textMember,
  type Dialect,
  type Loose,
  type Model,
} from '../loop/dialect.ts';
import { textOfAnswer, type Toolbox } from '../loop/toolbox.ts';

type Options = { readonly signal?: AbortSignal };

/** The part of an `openai` client that is used. */
export interface OpenAiChatClient {
  readonly chat: { readonly completions: { create(body: never, options?: Options): PromiseLike<unknown> } };
}
export interface OpenAiResponsesClient {
  readonly responses: { create(body: never, options?: Options): PromiseLike<unknown> };
}

const chat: Dialect<Loose> = {
  format: 'openai',
  read(response) {
    const message = member(listOf(member(response, 'choices'))[0], 'message');
    const usage = member(response, 'usage');
    return {
      messages: message === undefined ? [] : [message as Loose],
      text: textMember(message, 'content') || textMember(message, 'refusal'),
      calls: listOf(member(message, 'tool_calls')).map((call) => ({
        id: textMember(call, 'id'),
        name: textMember(member(call, 'function'), 'name'),
        ...fromText(member(member(call, 'function'), 'arguments')),
      })),
      usage: {
        inputTokens: countOf(usage, 'prompt_tokens'),
        outputTokens: countOf(usage, 'completion_tokens'),
      },
    };
  },
  results: (answered) =>
    answered.map(({ call, envelope }) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: textOfAnswer(envelope),
    })),
};

const responses: Dialect<Loose> = {
  format: 'openai-responses',
  read(response) {
    const items = listOf(member(response, 'output'));
    const texts = items
      .filter((item) => textMember(item, 'type') === 'message')
      .flatMap((item) => listOf(member(item, 'content')));
    const usage = member(response, 'usage');
    return {
      messages: items as Loose[],
      text: texts.map((part) => textMember(part, 'text') || textMember(part, 'refusal')).join(''),
      calls: items
        .filter((item) => textMember(item, 'type') === 'function_call')
        .map((item) => ({
          id: textMember(item, 'call_id'),
          name: textMember(item, 'name'),
          ...fromText(member(item, 'arguments')),
        })),
      usage: { inputTokens: countOf(usage, 'input_tokens'), outputTokens: countOf(usage, 'output_tokens') },
    };
  },
  results: (answered) =>
    answered.map(({ call, envelope }) => ({
      type: 'function_call_output',
      call_id: call.id,
      output: textOfAnswer(envelope),
    })),
};

export const openai = {
  ...chat,
  /** For `tools` of chat.completions.create. `Tool` is the SDK's type of one. */
  tools: <Tool = unknown>(tools: Toolbox) => tools.as('openai') as Promise<Tool[]>,
  /** What to append to the messages after a completion: its message, and the answers of the tools that it calls. */
  answer: <Message = Loose>(tools: Toolbox, completion: unknown) =>
    answerCalls(chat, tools, completion) as Promise<Message[]>,
  /** For `run`. `params`: the body of a request but for messages and tools. */
  model: (client: OpenAiChatClient, params: Loose): Model<Loose> => ({
    ...chat,
    async generate({ messages, tools, signal }) {
      const some = listOf(tools).length > 0 ? { tools } : {};
      const body = { ...params, ...some, messages } as never;
      return chat.read(await client.chat.completions.create(body, { signal }));
    },
  }),
};

export const openaiResponses = {
  ...responses,
  tools: <Tool = unknown>(tools: Toolbox) => tools.as('openai-responses') as Promise<Tool[]>,
  /** What to append to the input after a response. */
  answer: <Item = Loose>(tools: Toolbox, response: unknown) =>
    answerCalls(responses, tools, response) as Promise<Item[]>,
  model: (client: OpenAiResponsesClient, params: Loose): Model<Loose> => ({
    ...responses,
    async generate({ messages, tools, signal }) {
      const some = listOf(tools).length > 0 ? { tools } : {};
      const body = { ...params, ...some, input: messages } as never;
      return responses.read(await client.responses.create(body, { signal }));
    },
  }),
};
