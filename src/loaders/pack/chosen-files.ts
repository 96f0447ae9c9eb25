// The files of declarations that a pack's choices bring beside tools.yaml.
import type { PackManifest } from '../../lib/packs/pack-manifest.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import type { PackOptions } from './options.ts';

export interface ChosenFiles {
  readonly files: readonly string[];
  readonly problems: readonly { readonly choice: string; readonly message: string }[];
}

export function chosenFiles({ choices }: PackManifest, { choose }: Pick<PackOptions, 'choose'>): ChosenFiles {
  const files: string[] = [];
  const problems: ChosenFiles['problems'][number][] = [];
  for (const [choice, value] of Object.entries(choose)) {
    const known = Object.hasOwn(choices, choice) ? choices[choice] : undefined;
    if (known === undefined) {
      const message = `the pack has no such choice; ${orNone(Object.keys(choices), choice)}`;
      problems.push({ choice, message });
      continue;
    }
    const chosen = Object.hasOwn(known.of, value) ? known.of[value] : undefined;
    if (chosen !== undefined) files.push(...chosen.files);
    else
      problems.push({
        choice,
        message: `"${value}": ${orNone(Object.keys(known.of), value)}`,
      });
  }
  return { files: [...new Set(files)], problems };
}

function orNone(known: readonly string[], said: string): string {
  const near = didYouMean(said, known);
  if (near !== undefined) return `did you mean "${near}"?`;
  return known.length === 0 ? 'it has none' : `known: ${known.join(', ')}`;
}
