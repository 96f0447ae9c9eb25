// examples/web as its README tells it: pages, a search and an API of this machine, with the site at a port of its own.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort } from '../helpers/free-port.ts';
import { readmeCommands, runShell, startAsWritten } from '../helpers/readme-commands.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const EXAMPLE = resolve(import.meta.dirname, '../../examples/web');
const PORT = '8098';

let dir: string;
beforeEach(() => (dir = tempDir()));
afterEach(() => removeDir(dir));

it('three commands read a page, search and call an API, as the README shows', async () => {
  const { start, calls, answers } = readmeCommands('web');
  const port = String(await freePort());
  const at = (text: string) => text.replaceAll(PORT, port);
  const settings = join(dir, 'web');
  cpSync(EXAMPLE, settings, { recursive: true });
  for (const file of ['gateway.yaml', 'apis.yaml'].map((name) => join(settings, name)))
    writeFileSync(file, at(readFileSync(file, 'utf8')));
  const own = `SITE_PORT=${port} UTE_CONFIG=${join(settings, 'gateway.yaml')}`;
  const gateway = await startAsWritten(`${own} ${start}`, dir);
  try {
    const { exitCode, output } = await runShell(at(calls), gateway);
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    expect(answers).toHaveLength(3);
    for (const answer of answers) expect(output).toMatch(new RegExp(at(answer.source)));
  } finally {
    await gateway.stop();
  }
});
