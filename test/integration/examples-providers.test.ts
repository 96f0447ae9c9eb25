// examples/providers: an agent with the SDKs of two providers, and a human at the terminal.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readmeCommands, runShell, startAsWritten, type ReadmeGateway } from '../helpers/readme-commands.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let dir: string;
let gateway: ReadmeGateway;

beforeAll(async () => {
  dir = tempDir();
  gateway = await startAsWritten('npm start', dir);
});
afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

it('the agent of either provider says what its tools said, and what a human said', async () => {
  const run = await runShell(readmeCommands('providers').calls, gateway);
  expect(run).toMatchObject({ exitCode: 0 });
  const said = run.output.split('\n');
  expect(said).toContain('The tool says: 5');
  expect(said).toContain('The tool says: 50');
  expect(run.output).toContain('The tool says: {"deleted":"note-1",');
  expect(run.output).toContain('PERMISSION_DENIED: The call was rejected by an approver.');
  expect(run.output.match(/May it call delete_note\?/g)).toHaveLength(2);
});
