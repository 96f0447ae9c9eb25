// Child processes as the gateway starts them: what they inherit, how they end, who is left.
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import { isAlive } from '../helpers/python-ports.ts';
import { MIB, SandboxBench } from '../helpers/sandbox.ts';
import { eventually } from '../helpers/eventually.ts';

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

  it('opens fd 0 as a pipe when asked, and gives nothing there otherwise', async () => {
    const request = { argv: ['/bin/cat'], cwd: '/', env: {}, channel: false };
    const child = await spawner.spawn({ ...request, stdin: true });
    child.stdin?.end('hello');
    expect(await textOf(child.stdout)).toBe('hello');
    const silent = await spawner.spawn(request);
    expect(silent.stdin).toBeUndefined();
    expect(await textOf(silent.stdout)).toBe('');
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

describe('a confined process', () => {
  const confinement = {
    readable: [] as string[],
    network: 'none',
    memoryBytes: 256 * MIB,
    maxProcesses: 16,
  } as const;
  const env = { PATH: '/usr/bin:/bin', TOKEN: 'secret-4711' };

  describe.each(['bwrap-full', 'bwrap-container', 'landlock'] as const)('on %s', (backend) => {
    let bench: SandboxBench;
    beforeAll(() => {
      bench = new SandboxBench({ backends: [backend] });
    });
    afterAll(() => bench.close());

    it('has its channel, stdin and environment, and nothing of the host', async () => {
      const script = 'read line <&3; echo "got $line" >&4; cat; echo "$TOKEN"; cat /etc/passwd';
      const child = await bench.spawner.spawn({
        argv: ['sh', '-c', script],
        cwd: '/',
        env,
        channel: true,
        stdin: true,
        confinement: { ...confinement, readable: ['/usr/share'] },
      });
      child.toChild?.write('ping\n');
      child.stdin?.end('hello\n');
      const texts = await Promise.all([child.fromChild, child.stdout, child.stderr].map(textOf));
      expect(texts).toEqual([
        'got ping\n',
        'hello\nsecret-4711\n',
        expect.stringMatching(/No such file|Permission denied/),
      ]);
      expect((await child.exited).code).toBe(1);
    });

    it('reaches this machine by network when it may, and only then', async () => {
      const server = createServer((socket) => socket.end('welcome')).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const script = `import socket\ns = socket.create_connection(("127.0.0.1", ${port}))\nprint(s.recv(99))`;
      const reach = async (network: 'none' | 'host') => {
        const argv = ['/usr/bin/python3', '-I', '-c', script];
        const child = await bench.spawner.spawn({
          argv,
          cwd: '/',
          env,
          channel: false,
          confinement: { ...confinement, network },
        });
        return (await Promise.all([textOf(child.stdout), textOf(child.stderr)]))[0];
      };
      try {
        expect([await reach('host'), await reach('none')]).toEqual(["b'welcome'\n", '']);
      } finally {
        server.close();
      }
    });

    it('keeps its environment out of every process list', async () => {
      const child = await bench.spawner.spawn({
        argv: ['sleep', '600'],
        cwd: '/',
        env,
        channel: false,
        confinement,
      });
      const seen = () => readFileSync(`/proc/${child.pid}/cmdline`, 'utf8');
      // While the kernel puts a program in the place of another, there is none.
      await eventually(() => seen() !== '', 'its command line can be read');
      expect(seen()).not.toContain('secret-4711');
      child.kill();
      await child.exited;
    });

    it('dies with everything it started when it is killed', async () => {
      const script = '(setsid sleep 600 &); sleep 600 & echo up; wait';
      const child = await bench.spawner.spawn({
        argv: ['sh', '-c', script],
        cwd: '/',
        env,
        channel: false,
        confinement,
      });
      await child.stdout.take(1).toArray();
      child.kill();
      await child.exited;
      // Whoever were alive would hold the other end.
      expect(await textOf(child.stderr)).not.toContain('alive');
    });

    it('writes where it may, and a link in the place of that folder is refused', async () => {
      const dir = join(bench.dir, 'writable');
      mkdirSync(dir, { recursive: true });
      chmodSync(dir, 0o777);
      const write = (folder: string) =>
        bench.spawner.spawn({
          argv: ['sh', '-c', `echo x > ${folder}/file`],
          cwd: '/',
          env,
          channel: false,
          confinement: { ...confinement, writable: [folder] },
        });
      expect((await (await write(dir)).exited).code).toBe(0);
      expect(readFileSync(join(dir, 'file'), 'utf8')).toBe('x\n');
      const link = join(bench.dir, 'link');
      symlinkSync(dir, link);
      const outcome = await write(link).then(
        async (child) => (await child.exited).code,
        (error: ToolFailure) => error.reason,
      );
      expect(outcome).not.toBe(0);
    });
  });

  it('is refused where there is no sandbox', async () => {
    const request = { argv: ['/bin/true'], cwd: '/', env: {}, channel: false, confinement };
    await expect(spawner.spawn(request)).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'SANDBOX_UNAVAILABLE',
    });
  });
});
