// examples/front-desk as its README tells it: three commands to a first message and to a first event, on servers of this machine.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readmeCommands, runCommands } from '../helpers/readme-commands.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const AGENT = 'examples/front-desk/front-desk.json';

let dir: string;
beforeEach(() => (dir = tempDir()));
afterEach(() => removeDir(dir));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

it(
  'its commands run, and answer what the README shows, with the mail server at a free port',
  { timeout: 120_000 },
  async () => {
    const port = await freePort();
    const file = join(dir, 'front-desk.json');
    const said = readFileSync(resolve(import.meta.dirname, '../..', AGENT), 'utf8');
    expect(said).toContain('"smtp_port": 2587');
    writeFileSync(file, said.replace('"smtp_port": 2587', `"smtp_port": ${port}`));
    const { start, calls, answers } = readmeCommands('front-desk');
    expect(calls).toContain(AGENT);
    const { exitCode, output } = await runCommands(
      {
        start: `FRONT_DESK_MAIL_PORT=${port} ${start}`,
        calls: calls.replaceAll(AGENT, file),
        answers,
      },
      dir,
    );
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    expect(answers).toHaveLength(4);
    for (const answer of answers) expect(output).toMatch(answer);
  },
);
