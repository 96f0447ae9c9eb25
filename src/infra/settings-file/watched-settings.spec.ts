// WatchedSettings: one reading for all parts, and no part keeps another from what the file says.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { recordingLog } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import { WatchedSettings } from './watched-settings.ts';

const linesOf = (port: number) => `log: { level: silent }\nhttp: { port: ${port} }\n`;

function setUp() {
  const dir = mkdtempSync(join(tmpdir(), 'ute-watched-settings-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'gateway.yaml');
  const write = (text: string) => writeFileSync(file, text);
  write(linesOf(7001));
  const texts: (string | undefined)[] = [];
  const read = (text: string | undefined) => {
    texts.push(text);
    return loadSettings({ UTE_CONFIG: file }, dir, text);
  };
  const log = recordingLog();
  const clock = new FakeClock();
  const watched = new WatchedSettings({ file, read, clock, log });
  onTestFinished(() => watched.stop());
  const follow = (follows: string, act?: () => void): number[] => {
    const ports: number[] = [];
    watched.listen({
      follows,
      apply: ({ http }) => {
        act?.();
        ports.push(http.port);
      },
    });
    return ports;
  };
  return { file, write, texts, log, clock, watched, follow };
}

it('reads each text once, for all parts, by itself and when it is asked', async () => {
  const { write, texts, clock, watched, follow } = setUp();
  const [one, two] = [follow('one'), follow('two')];
  watched.start();
  await watched.check();
  write(linesOf(7002));
  await clock.advance(1_000);
  await expect.poll(() => two).toEqual([7001, 7002]);
  expect(one).toEqual(two);
  await Promise.all([watched.check(), watched.check()]);
  expect(texts).toEqual([linesOf(7001), linesOf(7002)]);
});

it('tells a part that comes later what was seen last', async () => {
  const { texts, watched, follow } = setUp();
  await watched.check();
  expect(follow('late')).toEqual([7001]);
  expect(texts).toHaveLength(1);
});

it('goes on to the other parts where one cannot use the file, and asks that one again until it can', async () => {
  const { write, log, watched, follow } = setUp();
  let isBroken = true;
  const fails = follow('loaders', () => {
    if (isBroken) throw new Error('its folder is away');
  });
  const others = follow('keys');
  await watched.check();
  await watched.check();
  expect([fails, others]).toEqual([[], [7001]]);
  // Once for each text: a look a second would fill the log.
  expect(
    log.lines.filter((line) => JSON.stringify(line).includes('loaders of gateway.yaml cannot be used')),
  ).toHaveLength(1);
  isBroken = false;
  await watched.check();
  expect([fails, others]).toEqual([[7001], [7001]]);
  write('http: [');
  await watched.check();
  expect([fails, others]).toEqual([[7001], [7001]]);
});

it('tells nobody anything once it has been stopped', async () => {
  const { write, watched, follow } = setUp();
  const ports = follow('one');
  watched.start();
  await watched.stop();
  write(linesOf(7002));
  await watched.check();
  expect(ports).not.toContain(7002);
});

it.each([
  ['gone', () => undefined, 'the file does not exist'],
  ['not to be read', (file: string) => mkdirSync(file), 'the file cannot be read: EISDIR'],
  ['emptied', (file: string) => writeFileSync(file, ''), 'the file is empty'],
])('changes nothing while the file is %s, and says so once, as it is', async (_, put, reason) => {
  const { file, write, log, watched, follow } = setUp();
  const ports = follow('one');
  await watched.check();
  rmSync(file);
  put(file);
  await watched.check();
  await watched.check();
  expect([ports, follow('late')]).toEqual([[7001], reason.endsWith('empty') ? [] : [7001]]);
  const told = log.lines.map(({ fields }) => String(fields['reason'] ?? fields['err']));
  expect(told).toEqual([expect.stringContaining(reason)]);
  rmSync(file, { recursive: true, force: true });
  write(linesOf(7002));
  await watched.check();
  expect(ports).toEqual([7001, 7002]);
});

it('takes a file that cannot be read at the first look for no missing one', async () => {
  const { file, write, texts, watched, follow } = setUp();
  const ports = follow('one');
  rmSync(file);
  mkdirSync(file);
  await watched.check();
  expect([ports, texts]).toEqual([[], []]);
  rmSync(file, { recursive: true });
  write(linesOf(7002));
  await watched.check();
  expect(ports).toEqual([7002]);
});
