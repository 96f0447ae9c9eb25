// `ute packs`: ready-made sets of tools: which there are, and putting one in force.
import { join } from 'node:path';
import type { Command } from 'commander';
import type { PackEntry } from '../../../lib/packs/add-pack-entry.ts';
import { folderOfPack, ownPacks } from '../../../lib/packs/own-packs.ts';
import { readManifest, type PackManifest } from '../../../lib/packs/pack-manifest.ts';
import { describeProblem } from '../../../lib/text/describe-problem.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../../exit-code.ts';
import { GatewayClient, withGatewayOptions } from '../../gateway/gateway-client.ts';
import { ownSettings } from '../../own-settings.ts';
import { table } from '../../table.ts';
import { addPack, variablesOf } from './add-pack.ts';
import { NotTaken, takePack, type AddedPack } from './take-pack.ts';
import { AgentSetup, type AgentSetupOptions } from './agent-setup.ts';

export function addPacksCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const packs = program
    .command('packs')
    .summary('ready-made sets of tools')
    .description('The packs that come with the gateway. Each is a loader entry: {type: pack, name: …}.');
  packs
    .command('list')
    .summary('list the packs')
    .description('Lists the packs that come with the gateway, and which of them gateway.yaml names.')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => finish(await list(io, json === true)));
  addAdd(packs, io, finish);
}

function addAdd(packs: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(packs.command('add <name>'))
    .summary('put a pack in force')
    .description(
      'Adds the pack to the loaders of gateway.yaml (UTE_CONFIG, config/gateway.yaml), which is made where there is none,\n' +
        'if a gateway would start with it, and prints a first call. A gateway that runs with this file has the tools within\n' +
        'seconds; with an API key that may reload, the command waits for it. With --agent and --tools, the agent is\n' +
        'configured for them in the gateway that runs, too.',
    )
    .option('--without <tool>', 'a tool of it that is left out; may be repeated', more, [])
    .option('--choose <choice=value>', 'one of what the pack lets you choose; may be repeated', more, [])
    .option('--agent <name>', 'an agent of the gateway that runs, declared where it is not there')
    .option(
      '--tools <json>',
      'with --agent: what is configured for it, {tool: {config, sensitive_config}}: @file or -, since others see a command line',
    )
    .option('--tenant <name>', 'whose agent (default: that of the key that asks)')
    .action(async (name: string, said: AddOptions) => {
      const entry = { name, without: said.without, choose: Object.fromEntries(said.choose.map(choiceOf)) };
      const manifest = await manifestOf(name);
      const setup = await AgentSetup.open(said, io);
      await addPack(entry, manifest, io);
      const { tool } = manifest.first_call;
      const added = { name, tool: said.without.includes(tool) ? undefined : tool };
      if (setup === undefined) io.stdout(await nextOf({ added, entry, manifest, said }, io));
      else {
        await setup.configure(added);
        io.stdout(`The gateway that runs has it, and ${setup.name} is configured.\n`);
      }
      const first = `A first call:\n  ${callOf(manifest, io, setup?.name)}\n`;
      io.stdout(added.tool === undefined ? `Its tools: packs/${name}/README.md\n` : first);
      finish(EXIT.ok);
    });
}

interface AddOptions extends AgentSetupOptions {
  readonly without: readonly string[];
  readonly choose: readonly string[];
}

interface Added {
  readonly added: AddedPack;
  readonly entry: PackEntry;
  readonly manifest: PackManifest;
  readonly said: AddOptions;
}

/** What comes before a first call. Throws CliFailure where the gateway that runs refuses the pack; it is added all the same. */
async function nextOf({ added, entry, manifest, said }: Added, io: CliIo): Promise<string> {
  const before = manifest.before === undefined ? '' : `${manifest.before}\n`;
  if (await isTaken(added, said, io)) return `${before}The gateway that runs has it.\n`;
  const variables = Object.keys(variablesOf(entry, manifest));
  return variables.length === 0
    ? `${before}A gateway that runs with this file has it within seconds; otherwise start one.\n`
    : `${before}The gateway reads ${variables.join(', ')} in its own environment: start it with that set.\n`;
}

/** False, too, where nobody can be asked: no key, no gateway, no permission. */
async function isTaken(added: AddedPack, said: AddOptions, io: CliIo): Promise<boolean> {
  if ((said.key ?? said.keyFile ?? io.env['UTE_API_KEY'] ?? '') === '') return false;
  try {
    return await takePack(added, await GatewayClient.open(said, io));
  } catch (error) {
    if (error instanceof NotTaken || !(error instanceof CliFailure)) throw error;
    return false;
  }
}

function callOf(
  { first_call: { tool, arguments: values, context } }: PackManifest,
  { env }: CliIo,
  agent?: string,
): string {
  const said = { ...context, ...(agent !== undefined && { agent_id: agent }) };
  const fields = Object.entries(said).map(([name, value]) => ` --context ${name}=${value}`);
  // In a checkout there is no program `ute` on the path.
  const ute = env['npm_lifecycle_event'] === 'ute' ? 'npm run --silent ute --' : 'ute';
  return `${ute} call ${tool} '${JSON.stringify(values)}'${fields.join('')}`;
}

/** Throws CliFailure. */
function choiceOf(text: string): readonly [choice: string, value: string] {
  const [, choice, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (choice !== undefined && value !== undefined) return [choice, value];
  throw new CliFailure(EXIT.usage, `--choose ${text}: expected a choice and its value, such as search=brave`);
}

function more(tool: string, before: readonly string[]): readonly string[] {
  return [...before, tool];
}

/** Throws CliFailure. */
async function manifestOf(name: string): Promise<PackManifest> {
  const found = folderOfPack(name);
  if ('message' in found) throw new CliFailure(EXIT.failed, found.message);
  const read = await readManifest(join(found.folder, 'pack.yaml'));
  if ('faults' in read) throw new CliFailure(EXIT.failed, read.faults.map(describeProblem).join('\n'));
  return read.manifest;
}

async function list(io: CliIo, json: boolean): Promise<ExitCode> {
  const named = new Set(
    ownSettings(io).loaders.flatMap(({ type, ...said }) => (type === 'pack' ? [said['name']] : [])),
  );
  const packs = await Promise.all(ownPacks().map(manifestOf));
  const rows = packs.map(({ name, summary }) => ({ name, in_force: named.has(name), summary }));
  if (json) io.stdout(`${JSON.stringify(rows, null, 2)}\n`);
  else
    io.stdout(
      table(
        ['name', 'named', 'summary'],
        rows.map(({ name, in_force: isNamed, summary }) => [name, isNamed ? 'yes' : 'no', summary]),
      ),
    );
  return EXIT.ok;
}
