// `ute packs add`: the entry in gateway.yaml, written only if a gateway would start with it.
import { relative } from 'node:path';
import { assumeDemoUpstream } from '../../../app/demo/demo-upstream.ts';
import { addPackEntry, type PackEntry } from '../../../lib/packs/add-pack-entry.ts';
import type { PackManifest } from '../../../lib/packs/pack-manifest.ts';
import { describeProblem } from '../../../lib/text/describe-problem.ts';
import { settingsFile } from '../../../settings/load-settings.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT } from '../../exit-code.ts';
import { ownSettings } from '../../own-settings.ts';
import { replaceSettings, settingsText } from './replace-settings.ts';

/** Throws CliFailure; gateway.yaml is as it was then. */
export async function addPack(entry: PackEntry, manifest: PackManifest, io: CliIo): Promise<void> {
  const file = settingsFile(io.env, io.cwd);
  const shown = relative(io.cwd, file);
  const before = settingsText(file);
  const added = addPackEntry(before, entry);
  if (added === 'there already') io.stdout(`${shown} names the pack ${entry.name} already\n`);
  else if ('message' in added) throw new CliFailure(EXIT.failed, `${shown}: ${added.message}`);
  else {
    const check = (draft: string) => wouldStart(draft, { entry, manifest }, io);
    await replaceSettings(file, { before, text: added.text, check });
    io.stdout(`${shown}: added the pack ${entry.name}\n`);
  }
  for (const line of openChoices(entry, manifest)) io.stdout(`${line}\n`);
}

/** Those of the pack, and of what was chosen of it. */
export function variablesOf({ choose = {} }: PackEntry, { environment, choices }: PackManifest) {
  const chosen = Object.entries(choose).map(([choice, value]) => choices[choice]?.of[value]?.environment);
  return Object.assign({}, environment, ...chosen) as PackManifest['environment'];
}

/** What could be chosen, and was not. */
function openChoices({ choose = {} }: PackEntry, { choices }: PackManifest): readonly string[] {
  return Object.entries(choices)
    .filter(([choice]) => !Object.hasOwn(choose, choice))
    .map(([choice, { means, of }]) => `Not chosen: ${choice} (${means}): ${Object.keys(of).join(', ')}`);
}

const LEFT_OUT = '--without <tool> leaves a tool of the pack out';

/** Throws CliFailure with what a gateway of these settings would refuse. */
async function wouldStart(
  draft: string,
  { entry, manifest }: { readonly entry: PackEntry; readonly manifest: PackManifest },
  io: CliIo,
): Promise<void> {
  const { validateTools } = await import('../../../app/gateway/validate-tools.ts');
  assumeDemoUpstream();
  const settings = ownSettings({ ...io, env: { ...io.env, UTE_CONFIG: draft } });
  const { problems } = await validateTools(settings, false);
  if (problems.length === 0) return;
  const needed = Object.entries(variablesOf(entry, manifest))
    .filter(([variable]) => (io.env[variable] ?? '') === '')
    .map(([variable, what]) => `the pack reads ${variable}: ${what}`);
  const lines = [
    `${manifest.name} was not added: a gateway would not start with it`,
    ...problems.map(describeProblem),
    ...needed,
    ...(problems.some(({ message }) => message.includes('is taken already')) ? [LEFT_OUT] : []),
  ];
  throw new CliFailure(EXIT.failed, lines.join('\n'));
}
