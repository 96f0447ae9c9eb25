// examples/custom-executor: what its README shows, over the running service and with `ute validate`.
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MODULE = resolve(ROOT, 'examples/custom-executor/words.ts');

async function ute(...argv: string[]): Promise<{ code: number; text: string }> {
  let text = '';
  const write = (piece: string) => void (text += piece);
  const code = await run(argv, {
    stdout: write,
    stderr: write,
    readStdin: async () => '',
    fetch,
    env: {},
    cwd: ROOT,
  });
  return { code, text };
}

describe('the custom executor example', () => {
  let gateway: RunningGateway;
  let agent: RestTarget;

  beforeAll(async () => {
    gateway = await startGateway({
      tools: ['examples/custom-executor/tools.yaml'],
      settings: { custom_executors: [{ path: MODULE }], executors: { words: { fallback: 'en' } } },
    });
    agent = targetOf(gateway, 'agent');
  });

  afterAll(() => gateway?.stop());

  it('runs tools of its type, behind the same pipeline', async () => {
    expect((await callTool(agent, 'greeting', { language: 'de' })).body).toMatchObject({
      ok: true,
      data: { text: 'Guten Tag', exact: true },
      meta: { executor: 'words' },
    });
    expect((await callTool(agent, 'greeting', { language: 'xx' })).body.data).toEqual({
      text: 'Good day',
      exact: false,
    });
    expect((await callTool(agent, 'greeting', { language: 1 })).body.error).toMatchObject({
      type: 'VALIDATION',
    });
    expect((await callTool(agent, 'greeting', { language: 'klingon' })).body.error).toMatchObject({
      type: 'PERMANENT',
      origin: 'tool',
    });
  });

  it('its settings are checked at the start', async () => {
    const settings = { custom_executors: [{ path: MODULE }], executors: { words: { fallback: 7 } } };
    await expect(startGateway({ tools: ['examples/custom-executor/tools.yaml'], settings })).rejects.toThrow(
      'executors.words.fallback',
    );
  });

  it('what it throws in prepare refuses the load with its sentence', async () => {
    const settings = { custom_executors: [{ path: MODULE }], executors: { words: { fallback: 'it' } } };
    await expect(
      startGateway({ tools: ['examples/custom-executor/tools.yaml'], settings }),
    ).rejects.toMatchObject({
      problems: [{ tool: 'greeting', message: 'lines: the fallback language "it" is missing.' }],
    });
  });
});

describe('ute validate --config', () => {
  it('knows the custom executor, and takes the files of the loaders', async () => {
    expect(await ute('validate', '--config', 'examples/custom-executor/gateway.yaml')).toEqual({
      code: 0,
      text: 'ok: 1 tool\n',
    });
    expect(
      await ute(
        'validate',
        'examples/custom-executor/tools.yaml',
        '--config',
        'examples/custom-executor/gateway.yaml',
      ),
    ).toMatchObject({ code: 0 });
  });

  it('without it, the type is unknown', async () => {
    const { code, text } = await ute('validate', 'examples/custom-executor/tools.yaml');
    expect(code).toBe(1);
    expect(text).toContain('"words": there is no executor of this name here');
  });

  it('says what is wrong with the gateway.yaml itself', async () => {
    const { code, text } = await ute('validate', '--config', 'examples/custom-executor/none.yaml');
    expect(code).toBe(1);
    expect(text).toContain('none.yaml');
  });
});
