// examples/tool-folders: what its README shows.
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const EXAMPLE = resolve(import.meta.dirname, '../../examples/tool-folders');
let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [
        { type: 'tool-folder', path: join(EXAMPLE, 'tools') },
        { type: 'yaml-file', paths: [join(EXAMPLE, 'docs-tool.yaml')] },
      ],
    },
  });
  agent = targetOf(gateway, 'agent');
});

afterAll(() => gateway?.stop());

describe('the tool-folders example', () => {
  it('makes slugs, and says where nothing is left', async () => {
    const call = async (title: string) => (await callTool(agent, 'slugify', { title })).body;
    expect(await call('Crème brûlée, in 5 steps!')).toMatchObject({
      data: { slug: 'creme-brulee-in-5-steps' },
    });
    expect(await call('…')).toMatchObject({ error: { type: 'VALIDATION', reason: 'NOTHING_LEFT' } });
  });

  it('tells a model its documentation', async () => {
    const { body } = await callTool(agent, 'read_tool_docs', { tool: 'slugify' });
    expect(body).toMatchObject({
      data: { name: 'slugify', documentation: expect.stringMatching(/^# slugify/) },
    });
    expect((await callTool(agent, 'read_tool_docs', { tool: 'slugfy' })).body).toMatchObject({
      error: { type: 'NOT_FOUND', message: 'There is no tool of this name. Did you mean "slugify"?' },
    });
  });

  it('is built', async () => {
    const dir = tempDir();
    cpSync(join(EXAMPLE, 'tools'), join(dir, 'tools'), { recursive: true });
    let stdout = '';
    const io = { stderr: () => undefined, readStdin: async () => '', fetch, env: {}, cwd: dir };
    expect(await run(['build-tools'], { ...io, stdout: (text) => (stdout += text) })).toBe(0);
    expect(stdout).toMatch(/^ok: 1 tool, version 1\.0\.[0-9a-f]{8}: tools\/tool_registry\.json\n$/);
    removeDir(dir);
  });
});
