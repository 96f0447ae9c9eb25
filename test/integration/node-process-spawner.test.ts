// Child processes as the gateway starts them: what they inherit, how they end, who is left.
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../src/contract/tool-failure.ts';
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import { eventually, isAlive } from '../helpers/python-ports.ts';

const spawner = new NodeProcessSpawner();
afterEach(() => spawner.closeAll());

const shell = (script: string, env: { readonly [name: string]: string } = {}) =>
  spawner.spawn({ argv: ['/bin/sh', '-c', script], cwd: '/', env, channel: false });

async function textOf(stream: Readable | undefined): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}

describe('NodeProcessSpawner', () => {
  it('gives the child exactly the environment it was told', async () => {
    const child = await shell('/usr/bin/env', { ONLY: 'this' });
    const names = (await textOf(child.stdout)).split('\n').map((line) => line.split('=')[0]);
    expect(names).toContain('ONLY');
    expect(names.filter((name) => !['ONLY', 'PWD', 'SHLVL', '_', '', 'OLDPWD'].includes(name ?? ''))).toEqual(
      [],
    );
  });

  it('tells how the child ended', async () => {
    expect(await (await shell('exit 3')).exited).toEqual({ code: 3, signal: null });
    const child = await shell('sleep 60');
    child.kill();
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('opens fd 3 and fd 4 as a channel apart from stdout', async () => {
    const child = await spawner.spawn({
      argv: ['/bin/sh', '-c', 'read line <&3; echo "got $line" >&4; echo noise'],
      cwd: '/',
      env: {},
      channel: true,
    });
    child.toChild?.write('ping\n');
    const both = await Promise.all([textOf(child.fromChild), textOf(child.stdout)]);
    expect(both).toEqual(['got ping\n', 'noise\n']);
  });

  it('kills the whole group, also those whom the child started', async () => {
    const child = await shell('sleep 600 & echo $!; wait');
    const [first] = await child.stdout.take(1).toArray();
    const grandchild = Number(String(first));
    expect(isAlive(grandchild)).toBe(true);
    child.kill();
    await child.exited;
    await eventually(() => !isAlive(grandchild), 'the grandchild is gone');
  });

  it('leaves nobody of the group behind when the child ends by itself', async () => {
    const child = await shell('sleep 600 >/dev/null 2>&1 & echo $!');
    const grandchild = Number(await textOf(child.stdout));
    expect(await child.exited).toEqual({ code: 0, signal: null });
    await eventually(() => !isAlive(grandchild), 'the grandchild is gone');
  });

  it('closeAll ends every child that is alive', async () => {
    const children = await Promise.all([shell('sleep 600'), shell('sleep 600'), shell('exit 0')]);
    await spawner.closeAll();
    for (const child of children) expect(isAlive(child.pid)).toBe(false);
  });

  it('a program that does not exist is UNAVAILABLE with its name', async () => {
    const failure = await spawner
      .spawn({ argv: ['no-such-program-here'], cwd: '/', env: {}, channel: true })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolFailure);
    expect(failure).toMatchObject({ type: 'UNAVAILABLE', reason: 'SPAWN_FAILED', partialSideEffects: false });
    expect(String(failure)).toContain('no-such-program-here');
  });

  it('an argument that no program can be given is UNAVAILABLE too, not a crash', async () => {
    const attempt = spawner.spawn({ argv: ['/bin/echo', 'nul\0byte'], cwd: '/', env: {}, channel: false });
    await expect(attempt).rejects.toMatchObject({ reason: 'SPAWN_FAILED' });
  });

  it('listens to the end of the gateway only while children are alive', async () => {
    const before = process.listenerCount('exit');
    const child = await shell('sleep 600');
    expect(process.listenerCount('exit')).toBe(before + 1);
    child.kill();
    await child.exited;
    await eventually(() => process.listenerCount('exit') === before, 'the listener is gone');
  });
});
