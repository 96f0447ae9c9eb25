// Models that follow a script, behind the HTTP protocols of OpenAI (both), Anthropic and Gemini: enough for the providers' own SDKs.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LoopbackServers } from '../helpers/loopback-servers.ts';

interface Wanted {
  readonly name: string;
  /** A string is what a model writes that cannot write JSON. */
  readonly args: object | string;
}
export interface Turn {
  readonly text?: string;
  readonly calls?: readonly Wanted[];
}
/** `results`: what the tools have answered so far, each as the model reads it. */
export type Script = (results: readonly string[]) => Turn;

type Json = { readonly [member: string]: unknown };
const TOKENS = { in: 40, out: 10 };

export interface ScriptedModels {
  readonly url: string;
  readonly asked: Json[];
}

export async function scriptedModels(loopback: LoopbackServers, script: Script): Promise<ScriptedModels> {
  const asked: Json[] = [];
  const url = await loopback.http(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Json;
    asked.push(body);
    const speak = PROTOCOLS.find(({ path }) => path.test(request.url ?? ''));
    if (speak === undefined) response.writeHead(404).end('{}');
    else send(response, speak.answer(script(speak.results(body)), body));
  });
  return { url, asked };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const listOf = (value: unknown) => (Array.isArray(value) ? (value as Json[]) : []);
const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const written = (args: object | string) => (typeof args === 'string' ? args : JSON.stringify(args));
const idOf = (at: number, done: number) => `call_${done}_${at}`;

const PROTOCOLS: readonly {
  readonly path: RegExp;
  readonly results: (body: Json) => string[];
  readonly answer: (turn: Turn, body: Json) => object;
}[] = [
  {
    path: /\/chat\/completions$/,
    results: ({ messages }) =>
      listOf(messages).filter(({ role }) => role === 'tool').map(({ content }) => shown(content)), // oxfmt-ignore
    answer: ({ text, calls }, { model, messages }) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [
        {
          index: 0,
          finish_reason: calls === undefined ? 'stop' : 'tool_calls',
          message: {
            role: 'assistant',
            content: text ?? null,
            ...(calls !== undefined && {
              tool_calls: calls.map(({ name, args }, at) => ({
                id: idOf(at, listOf(messages).length),
                type: 'function',
                function: { name, arguments: written(args) },
              })),
            }),
          },
        },
      ],
      usage: {
        prompt_tokens: TOKENS.in,
        completion_tokens: TOKENS.out,
        total_tokens: TOKENS.in + TOKENS.out,
      },
    }),
  },
  {
    path: /\/responses$/,
    results: ({ input }) =>
      listOf(input).filter(({ type }) => type === 'function_call_output').map(({ output }) => shown(output)), // oxfmt-ignore
    answer: ({ text, calls = [] }, { model, input }) => ({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model,
      output: [
        ...calls.map(({ name, args }, at) => ({
          type: 'function_call',
          id: `fc_${at}`,
          call_id: idOf(at, listOf(input).length),
          name,
          arguments: written(args),
          status: 'completed',
        })),
        ...(text === undefined
          ? []
          : [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }]), // oxfmt-ignore
      ],
      usage: { input_tokens: TOKENS.in, output_tokens: TOKENS.out, total_tokens: TOKENS.in + TOKENS.out },
    }),
  },
  {
    path: /\/messages(?:\?.*)?$/,
    results: ({ messages }) =>
      listOf(messages)
        .flatMap(({ content }) => listOf(content))
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => shown(content)),
    answer: ({ text, calls = [] }, { model, messages }) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      content: [
        ...(text === undefined ? [] : [{ type: 'text', text }]),
        ...calls.map(({ name, args }, at) => ({ type: 'tool_use', id: idOf(at, listOf(messages).length), name, input: args })), // oxfmt-ignore
      ],
      usage: { input_tokens: TOKENS.in, output_tokens: TOKENS.out },
    }),
  },
  {
    path: /:generateContent(?:\?.*)?$/,
    results: ({ contents }) =>
      listOf(contents)
        .flatMap(({ parts }) => listOf(parts))
        .flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [shown((functionResponse as Json)['response'])])), // oxfmt-ignore
    answer: ({ text, calls = [] }) => ({
      candidates: [
        {
          finishReason: 'STOP',
          content: {
            role: 'model',
            parts: [
              ...(text === undefined ? [] : [{ text }]),
              ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
            ],
          },
        },
      ],
      usageMetadata: { promptTokenCount: TOKENS.in, candidatesTokenCount: TOKENS.out },
    }),
  },
];

/** Asks for a sum and for the deletion of a note, both at once, and tells what came of it. */
export const SUM_AND_DELETE: Script = (results) =>
  results.length < 2
    ? {
        calls: [
          { name: 'add', args: { a: 2, b: 3 } },
          { name: 'delete_note', args: { id: 'n-1' } },
        ],
      }
    : { text: `done: ${results.join(' and ')}` };
