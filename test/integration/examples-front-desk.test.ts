// examples/front-desk as its README tells it: three commands to a first message and to a first event, on servers of this machine.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readmeCommands, runShell, startAsWritten } from '../helpers/readme-commands.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const AGENT = 'examples/front-desk/front-desk.json';

let dir: string;
beforeEach(() => (dir = tempDir()));
afterEach(() => removeDir(dir));

it('its commands run, and answer what the README shows, with the mail server at a port of its own', async () => {
  const { start, calls, answers } = readmeCommands('front-desk');
  expect(calls).toContain(AGENT);
  const said = readFileSync(resolve(import.meta.dirname, '../..', AGENT), 'utf8');
  expect(said).toContain('"smtp_port": 2587');
  const gateway = await startAsWritten(`FRONT_DESK_MAIL_PORT=0 ${start}`, dir);
  try {
    const [, port] = /mail server at 127\.0\.0\.1:(\d+)/.exec(gateway.output()) ?? [];
    const file = join(dir, 'front-desk.json');
    writeFileSync(file, said.replace('"smtp_port": 2587', `"smtp_port": ${port}`));
    const { exitCode, output } = await runShell(calls.replaceAll(AGENT, file), gateway);
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    expect(answers).toHaveLength(4);
    for (const answer of answers) expect(output).toMatch(answer);
  } finally {
    await gateway.stop();
  }
});
