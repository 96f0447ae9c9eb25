// The commands of an example's README, run as they stand there, and what they print held against what the README shows.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seedDatabase } from './embedded-postgres.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What a reader puts in: an id, a key, a hash. Such a command is left out. */
const TO_BE_FILLED_IN = /…|<\w+>|[0-9a-f]{8}-[0-9a-f]{4}-7/;
const CALL_ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g;
/** Right behind the commands: others show what becomes of a change that the text between them tells of. */
const SHOWN_ANSWERS = /^```\n\n```text\n(.*?)^```$/gms;
const READY_WITHIN_MS = 45_000;

export interface ReadmeCommands {
  /** Up to `npm start`, which is the last. */
  readonly start: string;
  readonly calls: string;
  /** Answers that the README shows; `…` stands for what differs. */
  readonly answers: readonly RegExp[];
}

export function readmeCommands(example: string): ReadmeCommands {
  const text = readFileSync(join(ROOT, 'examples', example, 'README.md'), 'utf8');
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
      ([, block = '']) => block,
    );
  const commands = blocks('sh')
    .join('\n')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => !TO_BE_FILLED_IN.test(line));
  const started = commands.findIndex((line) => line.includes('npm start'));
  return {
    start: commands.slice(0, started + 1).join('\n'),
    calls: commands.slice(started + 1).join('\n'),
    answers: [...text.matchAll(SHOWN_ANSWERS)]
      .flatMap(([, block = '']) => block.split('\n'))
      .filter((line) => /^\{"(?:ok|tenant)":/.test(line))
      .map(patternOf),
  };
}

function patternOf(line: string): RegExp {
  const parts = line.replace(CALL_ID, '…').split('…');
  return new RegExp(parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('.*'));
}

export interface ExampleRun {
  readonly output: string;
  readonly exitCode: number | null;
}

/** Runs both parts from the folder of the repository. `dir`: an empty folder of the test's, for data and stand-ins. */
export async function runCommands({ start, calls }: ReadmeCommands, dir: string): Promise<ExampleRun> {
  const gateway = await startAsWritten(start, dir);
  try {
    return await runShell(calls, gateway);
  } finally {
    await gateway.stop();
  }
}

export interface ReadmeGateway {
  readonly cwd: string;
  /** Of commands that are to find it. */
  readonly env: Readonly<Record<string, string>>;
  /** What it has printed. */
  output(): string;
  readonly doors: { readonly rest: string; readonly grpc: string; readonly metrics: string };
  stop(): Promise<void>;
}

/** `cwd`: a checkout. */
export async function startAsWritten(start: string, dir: string, cwd = ROOT): Promise<ReadmeGateway> {
  const data = join(dir, 'data');
  // As root, the user of the embedded database goes through it.
  chmodSync(dir, 0o711);
  seedDatabase(data);
  const env = { ...standIns(dir), UTE_DATA_DIR: data, HOME: dir };
  const ports = { UTE_HTTP_PORT: '0', UTE_GRPC_PORT: '0', UTE_METRICS_PORT: '0' };
  // In a group of its own: it starts others.
  const gateway = spawn('bash', ['-c', start], { cwd, env: { ...env, ...ports }, detached: true });
  try {
    const output = gather(gateway);
    const { key, ...doors } = await ready(gateway, output);
    return {
      cwd,
      env: { ...env, REST_URL: doors.rest, UTE_URL: doors.rest, UTE_API_KEY: key },
      doors,
      output,
      stop: () => stopped(gateway),
    };
  } catch (error) {
    await stopped(gateway);
    throw error;
  }
}

export async function runShell(commands: string, { cwd, env }: ReadmeGateway): Promise<ExampleRun> {
  const child = spawn('bash', ['-e', '-c', commands], { cwd, env });
  const output = gather(child);
  const exitCode = await new Promise<number | null>((done) => child.once('close', done));
  return { output: output(), exitCode };
}

/** `npm start` without the build that npm test has done, and curl with the port that was free. */
function standIns(dir: string): Record<string, string> {
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  const node = JSON.stringify(process.execPath);
  const write = (name: string, script: string) =>
    writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  write(
    'npm',
    `case "$*" in start) exec ${node} dist/bundle/main.js ;; "run build") ;; "run ute -- "*) exec ${node} dist/cli/main.js "\${@:4}" ;; "run --silent ute -- "*) exec ${node} dist/cli/main.js "\${@:5}" ;; *) exit 64 ;; esac`,
  );
  write('curl', `PATH=\${PATH#*:}; exec curl "\${@//localhost:8080/$REST_URL}"`);
  const { PATH = '' } = process.env;
  return { PATH: `${bin}:${PATH}` };
}

async function ready(
  gateway: ChildProcess,
  output: () => string,
): Promise<ReadmeGateway['doors'] & { readonly key: string }> {
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  while (Date.now() < giveUpAt && gateway.exitCode === null) {
    const line = output()
      .split('\n')
      .find((each) => each.includes('"msg":"ready"'));
    const [key] = /ute_live_[\w-]+/.exec(output()) ?? [];
    if (line !== undefined && key !== undefined)
      return { ...(JSON.parse(line) as ReadmeGateway['doors']), key };
    await pause(20);
  }
  throw new Error(`the example did not start:\n${output()}`);
}

/** With what it has started; of one that did not start there is nothing left. */
async function stopped(gateway: ChildProcess): Promise<void> {
  if (gateway.pid === undefined || gateway.exitCode !== null) return;
  const gone = new Promise((done) => gateway.once('close', done));
  process.kill(-gateway.pid, 'SIGTERM');
  await gone;
}

function gather(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  return () => text;
}
