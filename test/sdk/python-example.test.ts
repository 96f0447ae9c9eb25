// examples/agent-python and examples/langchain do what their READMEs show, with the SDK installed from its wheel.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { approved } from './approved.ts';
import { ExampleProgram } from './example-program.ts';
import { installPythonBesideFrameworks, type InstalledPython } from './packages.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../examples');
let gateway: RunningGateway;
let installed: InstalledPython;
let model: ExampleProgram;

beforeAll(async () => {
  installed = installPythonBesideFrameworks();
  gateway = await startGateway({ tools: ['config/tools.yaml'] });
  const script = join(EXAMPLES, 'agent-typescript/scripted-model.mjs');
  model = new ExampleProgram(spawn(process.execPath, [script], { env: { MODEL_PORT: '0' } }));
}, 900_000);

afterAll(async () => {
  await model?.end();
  await gateway?.stop();
  if (installed !== undefined) rmSync(installed.dir, { recursive: true, force: true });
});

it.each([
  ['yes', /answered after 3 turns: The tools said: 5, and \{"deleted": "note-2"/],
  ['no', /answered after 3 turns: The tools said: 5, and .*APPROVAL_REJECTED/],
])('asks before something dangerous runs, and hears %s', async (answer, end) => {
  const agent = await started('agent-python/agent.py');
  try {
    await agent.says(/calculate_sum \{"a": 2, "b": 3\}: ok True/);
    await agent.says(/May the agent call delete_note with \{"note_id": "note-2"\}\? \(yes\/no\)/);
    agent.answer(answer);
    expect((await agent.says(/answered after .*/))[0]).toMatch(end);
  } finally {
    await agent.end();
  }
});

it('goes on with LangChain once a human has approved', async () => {
  const agent = await started('langchain/agent.py');
  try {
    await agent.says(/calculate_sum \{"a": 2, "b": 3\}: 5/);
    await approved(gateway, (await agent.says(/waits for approval (\S+)/))[1] ?? '');
    // The test before has deleted it: that the tool says so shows that it ran.
    await agent.says(/delete_note \{"note_id": "note-2"\}: .*There is no note/);
    expect((await agent.says(/The tools said: 5, and .*/))[0]).toContain('note-2');
  } finally {
    await agent.end();
  }
});

async function started(file: string): Promise<ExampleProgram> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...installed.env,
    PYTHONDONTWRITEBYTECODE: '1',
    UTE_URL: gateway.url,
    UTE_API_KEY: gateway.keys.admin.text,
    OPENAI_BASE_URL: (await model.says(/http:\S+/))[0],
    OPENAI_API_KEY: 'none',
  };
  const args = ['-u', join(EXAMPLES, file), 'Add 2 and 3, then delete my note.'];
  return new ExampleProgram(spawn(installed.python, args, { env }));
}
