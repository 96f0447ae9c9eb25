// A newcomer's way: the commands of README.md and of the guide, one after another, give the answers that the pages show.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyCheckout } from '../helpers/checkout-copy.ts';
import { keptOf, patternOf, stepsOf, withoutSpace, type Step } from '../helpers/page-steps.ts';
import { runShell, startAsWritten, type ReadmeGateway } from '../helpers/readme-commands.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { eventually } from '../helpers/eventually.ts';

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = 'docs/guide';
const PAGES = readdirSync(join(ROOT, GUIDE))
  .filter((name) => /^\d/.test(name))
  .toSorted();
/** Installs and starts are what a gateway of this test has behind it. */
const IS_START = /\bnpm (?:ci|start)\b/;
/** A declaration is taken within two seconds; machines are busy. */
const ANSWERED_WITHIN_MS = 90_000;
const HAS_GRPCURL = spawnSync('grpcurl', ['-version']).status === 0;

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const isRun = ({ commands }: Step) =>
  !IS_START.test(commands) && (HAS_GRPCURL || !commands.startsWith('grpcurl'));

describe.each([
  { what: 'README.md', pages: ['README.md'] },
  { what: 'the guide', pages: PAGES.map((name) => `${GUIDE}/${name}`) },
])('$what, from its first command to its last', ({ pages }) => {
  const kept = new Map<string, string>();
  let dir: string;
  let gateway: ReadmeGateway;

  beforeAll(async () => {
    dir = tempDir();
    copyCheckout(join(dir, 'checkout'));
    gateway = await startAsWritten('npm start', dir, join(dir, 'checkout'));
  });
  afterAll(async () => {
    await gateway.stop();
    removeDir(dir);
  });

  /** With the doors of this gateway, and the ids and tokens that it has given. */
  function asHere(commands: string): string {
    const { rest, grpc, metrics } = gateway.doors;
    let text = commands
      .replaceAll('localhost:8080', rest)
      .replaceAll('localhost:9464/metrics', metrics)
      .replaceAll('127.0.0.1:50051', grpc)
      .replaceAll('client.mjs ', `client.mjs --address ${grpc} `);
    for (const [shown, found] of kept) text = text.replaceAll(shown, found);
    return text;
  }

  /** Throws Error when the page shows something else. */
  async function follow({ commands, answer }: Step): Promise<void> {
    const run = async () => {
      const { output, exitCode } = await runShell(asHere(commands), gateway);
      const fits = answer === undefined ? exitCode === 0 : patternOf(answer).test(withoutSpace(output));
      if (!fits) throw new Error(`${commands}answered (exit code ${exitCode}):\n${output}`);
      return output;
    };
    // What has no answer to wait for changes something: it is run once.
    if (answer === undefined) await run();
    else {
      const output = await eventually(run, 'the answer', ANSWERED_WITHIN_MS);
      for (const [shown, found] of keptOf(answer, output)) kept.set(shown, found);
    }
  }

  it.each(pages)('%s', { timeout: 400_000 }, async (page) => {
    for (const step of stepsOf(read(page)).filter(isRun)) await expect(follow(step)).resolves.toBeUndefined();
  });
});

it('the README tells a stranger what it has to in 9 kB', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(9000);
});

it('the list of pages names each of them, and each page leads to the next', () => {
  const listed = [...read(`${GUIDE}/README.md`).matchAll(/\((\d[^)]+\.md)\)/g)].map(([, name]) => name);
  expect(listed).toEqual(PAGES);
  for (const [at, name] of PAGES.slice(1).entries())
    expect(read(`${GUIDE}/${PAGES[at]}`)).toMatch(new RegExp(String.raw`^Next: \[.+\]\(${name}\)$`, 'm'));
});
