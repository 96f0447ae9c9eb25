// The packs that come with the gateway: a folder each, under packs/.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { didYouMean } from '../text/did-you-mean.ts';

const PACKS = fileURLToPath(new URL('../../../packs/', import.meta.url));

export function ownPacks(): readonly string[] {
  return readdirSync(PACKS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

/** Absolute folder of a pack, or the message for an operator who named one that is not there. */
export function folderOfPack(name: string): { readonly folder: string } | { readonly message: string } {
  const known = ownPacks();
  if (known.includes(name)) return { folder: join(PACKS, name) };
  const near = didYouMean(name, known);
  const hint = near === undefined ? `known: ${known.join(', ')}` : `did you mean "${near}"?`;
  return { message: `there is no pack "${name}"; ${hint}` };
}
