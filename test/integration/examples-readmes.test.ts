// Every example does what its README says: its commands are run as they stand there, and their answers are those shown.
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { barrierAbove } from '../../src/infra/sandbox/reachable.ts';
import { SANDBOX_DEFAULTS } from '../../src/lib/sandbox-settings.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { readmeCommands, runCommands, runShell, startAsWritten } from '../helpers/readme-commands.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EXAMPLES = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
/** Why their commands cannot be run as they stand there. Tests of their own run them: examples-<name>.test.ts, those of test/sdk, and below. */
const APART: { readonly [example: string]: string } = {
  'agent-python': 'it installs packages, and asks: test/sdk',
  'agent-typescript': 'it installs packages, and asks: test/sdk',
  langchain: 'it installs packages, and asks: test/sdk',
  'grpc-client': 'it names the port 50051, and its second command is to fail',
  email: 'its mail server takes the port 2525',
  'front-desk': 'its mail server takes the port 2587',
  grpc: 'its order service takes the port 50061',
  http: 'its order service takes the port 8099',
  'http-loader': 'its server of tools takes the port 8099',
  mcp: 'its notes lie in /tmp/notes, whoever else has a folder there',
  web: 'its site takes the port 8098',
  'record-and-replay': 'it writes into the repository, and needs a second gateway on the port 8081',
};
/** What they answer depends on the time of day. */
const BY_THE_CLOCK = ['custom-extension'];
/** Its server is a large installation, which the sandbox's user must be able to reach: not in a closed home of root's. */
const BARRED =
  process.getuid?.() === 0 && barrierAbove(ROOT, { uid: SANDBOX_DEFAULTS.uid, gid: SANDBOX_DEFAULTS.gid })
    ? ['mcp-server']
    : [];

let dir: string;
beforeEach(() => (dir = tempDir()));
afterEach(() => removeDir(dir));

describe.each(EXAMPLES.filter((name) => !(name in APART) && !BARRED.includes(name)))(
  'examples/%s',
  (name) => {
    it('its commands run, and answer what the README shows', async () => {
      const commands = readmeCommands(name);
      const { exitCode, output } = await runCommands(commands, dir);
      expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
      if (BY_THE_CLOCK.includes(name)) return;
      for (const answer of commands.answers) expect(output).toMatch(answer);
    });
  },
);

it('examples/grpc-client calls a tool, and says why a call was refused', async () => {
  const gateway = await startAsWritten('npm start', dir);
  try {
    const [answered = '', refused = ''] = readmeCommands('grpc-client')
      .calls.split('\n')
      .filter((line) => line.startsWith('node '))
      .map((line) => `${line} --address ${gateway.doors.grpc}`);
    const answer = await runShell(answered, gateway);
    expect(answer).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(answer.output)).toMatchObject({ ok: true, data: 5 });
    const refusal = await runShell(refused, gateway);
    expect(refusal).toMatchObject({ exitCode: 1 });
    expect(refusal.output).toContain('must be number, found string');
  } finally {
    await gateway.stop();
  }
});

it.each(EXAMPLES.filter((name) => existsSync(join(ROOT, 'examples', name, 'gateway.yaml'))))(
  'examples/%s keeps its data in the repository',
  (name) => {
    const env = {
      UTE_CONFIG: `examples/${name}/gateway.yaml`,
      TOOLS_SIGNING_KEY: 'a secret of sixteen bytes or more',
    };
    expect(`${loadSettings(env, ROOT).data_dir}/`.startsWith(`${ROOT}/data/`)).toBe(true);
  },
);
