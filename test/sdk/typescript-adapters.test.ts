// Adapters of the TypeScript SDK with the real packages of providers and frameworks: model, tools, model, and a human in the middle.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as Sdk from '../../sdk/typescript/src/index.ts';
import type * as AiSdk from '../../sdk/typescript/src/adapters/ai-sdk.ts';
import type * as AnthropicAdapter from '../../sdk/typescript/src/adapters/anthropic.ts';
import type * as GeminiAdapter from '../../sdk/typescript/src/adapters/gemini.ts';
import type * as LangChainAdapter from '../../sdk/typescript/src/adapters/langchain.ts';
import type * as LlamaIndexAdapter from '../../sdk/typescript/src/adapters/llamaindex.ts';
import type * as OpenAiAdapter from '../../sdk/typescript/src/adapters/openai.ts';
import type * as Loop from '../../sdk/typescript/src/loop/index.ts';
import { imported, installTypescript, keptPackages, run as runProgram } from './packages.ts';
import { scriptedModels, SUM_AND_DELETE } from './scripted-models.ts';
import { SdkGateway } from './sdk-gateway.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const gateway = new SdkGateway();
let dir: string;
let packages: string;
let loop: typeof Loop;
let tools: Loop.Toolbox;
let models: string;
let approved = 0;

beforeAll(async () => {
  packages = keptPackages();
  dir = installTypescript();
  loop = await imported<typeof Loop>(dir, 'run');
  await gateway.start();
  const sdk = await imported<typeof Sdk>(dir);
  const { url, keys } = gateway.running;
  const admin = new sdk.GatewayClient({ url, apiKey: keys.admin.text });
  const client = new sdk.GatewayClient({ url, apiKey: keys.agent.text });
  const onApproval = ({ approvalId = '' }: Sdk.ConfirmationRequiredError) => {
    approved += 1;
    void admin.approvals.approve(approvalId);
  };
  tools = loop.gatewayTools(client, { call: { waitForApproval: true, approvalPollMs: 50, onApproval } });
  models = (await scriptedModels(gateway.loopback, SUM_AND_DELETE)).url;
}, 900_000);

afterAll(async () => {
  await gateway.stop();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

const adapter = <Exports>(name: string) => imported<Exports>(dir, name);
const fromKept = async (name: string): Promise<Readonly<Record<string, unknown>>> => {
  const file = createRequire(join(packages, 'package.json')).resolve(name);
  return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
};

/** What every dialog ends in, each in its own words. */
const DONE = /^done: .*5.* and .*n-1/;

async function expectApproval<T>(dialog: () => Promise<T>): Promise<T> {
  const before = approved;
  const result = await dialog();
  expect(approved).toBe(before + 1);
  return result;
}

describe('providers', () => {
  it('OpenAI, chat completions: two lines in a loop of one’s own, and the loop', async () => {
    const { openai } = await adapter<typeof OpenAiAdapter>('openai');
    const client = new OpenAI({ apiKey: 'k', baseURL: `${models}/v1`, maxRetries: 0 });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'go' }];
    const text = await expectApproval(async () => {
      for (;;) {
        const listed = await openai.tools<OpenAI.ChatCompletionTool>(tools);
        const completion = await client.chat.completions.create({ model: 'm', messages, tools: listed });
        messages.push(...(await openai.answer<OpenAI.ChatCompletionMessageParam>(tools, completion)));
        if (completion.choices[0]?.finish_reason === 'stop')
          return completion.choices[0].message.content ?? '';
      }
    });
    expect(text).toMatch(DONE);
    const model = openai.model(client, { model: 'm' });
    const result = await expectApproval(() => loop.run(model, tools, [{ role: 'user', content: 'go' }]));
    expect(result).toMatchObject({
      reason: 'answered',
      turns: 2,
      calls: 2,
      usage: { inputTokens: 80, outputTokens: 20 },
    });
    expect(result.text).toMatch(DONE);
  });

  it('OpenAI, responses', async () => {
    const { openaiResponses } = await adapter<typeof OpenAiAdapter>('openai');
    const client = new OpenAI({ apiKey: 'k', baseURL: `${models}/v1`, maxRetries: 0 });
    const model = openaiResponses.model(client, { model: 'm' });
    const result = await expectApproval(() => loop.run(model, tools, [{ role: 'user', content: 'go' }]));
    expect(result).toMatchObject({ reason: 'answered', usage: { inputTokens: 80 } });
    expect(result.text).toMatch(DONE);
  });

  it('Anthropic', async () => {
    const { anthropic } = await adapter<typeof AnthropicAdapter>('anthropic');
    const client = new Anthropic({ apiKey: 'k', baseURL: models, maxRetries: 0 });
    const model = anthropic.model(client, { model: 'm', max_tokens: 100 });
    const result = await expectApproval(() => loop.run(model, tools, [{ role: 'user', content: 'go' }]));
    expect(result.reason).toBe('answered');
    expect(result.text).toMatch(DONE);
  });

  it('Gemini', async () => {
    const { gemini } = await adapter<typeof GeminiAdapter>('gemini');
    const { GoogleGenAI } = await fromKept('@google/genai');
    const Client = GoogleGenAI as new (options: object) => GeminiAdapter.GeminiClient;
    const client = new Client({ apiKey: 'k', httpOptions: { baseUrl: models } });
    const model = gemini.model(client, { model: 'm' });
    const said = [{ role: 'user', parts: [{ text: 'go' }] }];
    const result = await expectApproval(() => loop.run(model, tools, said));
    expect(result).toMatchObject({ reason: 'answered', usage: { inputTokens: 80 } });
    expect(result.text).toMatch(DONE);
  });
});

it('what a model makes up is an answer that it reads, and no error of the dialog', async () => {
  const { openai } = await adapter<typeof OpenAiAdapter>('openai');
  const MADE_UP = [
    { name: '..', args: {} },
    { name: '../../v1/keys', args: {} },
    { name: 'no_such_tool', args: {} },
    { name: 'add', args: '{"a": 1, "b"' },
    { name: 'add', args: '[1, 2]' },
    { name: 'add', args: '{"a": 1e999, "b": 1}' },
    { name: 'add', args: '{"a": 12345678901234567890, "b": 1}' },
    { name: 'add', args: { a: 1, b: 2, __proto__: 3, c: 4 } },
  ];
  const { url } = await scriptedModels(gateway.loopback, (results) =>
    results.length === 0 ? { calls: MADE_UP } : { text: results.join('\n') },
  );
  const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 });
  const model = openai.model(client, { model: 'm' });
  const { reason, text } = await loop.run(model, tools, [{ role: 'user', content: 'go' }]);
  expect(reason).toBe('answered');
  const types = text.split('\n').map((line) => (JSON.parse(line) as { error: { type: string } }).error.type);
  expect(types).toEqual([...Array(3).fill('NOT_FOUND'), ...Array(5).fill('VALIDATION')]);
});

describe('frameworks', () => {
  it('the Vercel AI SDK', async () => {
    const { aiSdkTools } = await adapter<typeof AiSdk>('ai-sdk');
    const { generateText, isStepCount, stepCountIs } = await fromKept('ai');
    const { createOpenAICompatible } = await fromKept('@ai-sdk/openai-compatible');
    type Call = (...args: unknown[]) => never;
    const provider = (createOpenAICompatible as Call)({
      name: 'local',
      baseURL: `${models}/v1`,
      apiKey: 'k',
    });
    const stop = ((isStepCount ?? stepCountIs) as Call)(5);
    const { text } = await expectApproval(async () =>
      (generateText as (options: object) => Promise<{ text: string }>)({
        model: (provider as Call)('m'),
        tools: await aiSdkTools(tools),
        prompt: 'go',
        stopWhen: stop,
      }),
    );
    expect(text).toMatch(DONE);
  });

  it('LangChain', async () => {
    const { langchainTools } = await adapter<typeof LangChainAdapter>('langchain');
    const { tool } = await fromKept('@langchain/core/tools');
    const { HumanMessage } = await fromKept('@langchain/core/messages');
    const { ChatOpenAI } = await fromKept('@langchain/openai');
    type Runnable = { invoke(input: unknown): Promise<{ content: string; tool_calls?: { name: string }[] }> };
    type Named = Runnable & { name: string };
    const listed = await langchainTools<Named>(tools, tool as never);
    const chat = new (ChatOpenAI as new (options: object) => { bindTools(given: unknown): Runnable })({
      model: 'm',
      apiKey: 'k',
      maxRetries: 0,
      configuration: { baseURL: `${models}/v1` },
    }).bindTools(listed);
    const messages: unknown[] = [new (HumanMessage as new (text: string) => unknown)('go')];
    const text = await expectApproval(async () => {
      for (;;) {
        const said = await chat.invoke(messages);
        messages.push(said);
        if ((said.tool_calls ?? []).length === 0) return said.content;
        for (const call of said.tool_calls ?? [])
          messages.push(await listed.find(({ name }) => name === call.name)?.invoke(call));
      }
    });
    expect(text).toMatch(DONE);
    // What does not fit is a text for the model, as what the tool says is.
    const refused = await listed
      .find(({ name }) => name === 'delete_note')
      ?.invoke({ id: 'x'.repeat(200) })
      .catch(String);
    expect(refused).toMatch(/VALIDATION|schema/);
  });

  it('LlamaIndex', async () => {
    const { llamaIndexTools } = await adapter<typeof LlamaIndexAdapter>('llamaindex');
    const { FunctionTool } = await fromKept('@llamaindex/core/tools');
    interface IndexTool {
      readonly metadata: { readonly name: string; readonly parameters: object };
      call(input: object): Promise<unknown>;
    }
    const listed = await llamaIndexTools<IndexTool>(tools, FunctionTool as never);
    const add = listed.find(({ metadata }) => metadata.name === 'add');
    expect(add?.metadata.parameters).toMatchObject({ required: ['a', 'b'] });
    expect(await add?.call({ a: 2, b: 3 })).toBe(5);
    expect(await add?.call({ a: 'two' })).toMatch(/VALIDATION/);
  });
});

it('every adapter is typed for its user', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ute-sdk-user-'));
  try {
    const source = `import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { z } from 'zod';
import { GatewayClient } from 'unified-tool-executor-sdk';
import { anthropic } from 'unified-tool-executor-sdk/anthropic';
import { openai, openaiResponses } from 'unified-tool-executor-sdk/openai';
import { gatewayTools, run } from 'unified-tool-executor-sdk/run';
import { defineTool, registerTools } from 'unified-tool-executor-sdk/tools';

const client = new GatewayClient();
const tools = gatewayTools(client);
const greet = defineTool({
  name: 'greet',
  description: 'Greets',
  input: z.object({ name: z.string(), times: z.number().default(1) }),
  execute: ({ name, times }) => name.repeat(times),
});
export const registered = registerTools(client, [greet], { connection: 'mine' });
export const chat = run(openai.model(new OpenAI(), { model: 'm' }), tools, [{ role: 'user', content: 'go' }]);
export const later = run(openaiResponses.model(new OpenAI(), { model: 'm' }), tools, []);
export const claude = run(anthropic.model(new Anthropic(), { model: 'm', max_tokens: 9 }), tools, [], { limits: { turns: 2 } });
export const own = run(async () => ({ text: 'hello' }), tools, []);
`;
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
    writeFileSync(join(folder, 'user.ts'), source);
    const paths = { 'unified-tool-executor-sdk': dir, openai: ROOT, '@anthropic-ai/sdk': ROOT, zod: ROOT };
    runProgram('mkdir', ['-p', 'node_modules/@anthropic-ai'], folder);
    for (const [name, from] of Object.entries(paths))
      runProgram('ln', ['-s', join(from, 'node_modules', name), join('node_modules', name)], folder);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext'];
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    expect(
      runProgram(
        compiler,
        [...options, '--lib', 'es2023,dom,dom.iterable', '--types', '', 'user.ts'],
        folder,
      ),
    ).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
