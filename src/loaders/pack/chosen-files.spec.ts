// What a pack lets be chosen: its files, or what was probably meant.
import { expect, it } from 'vitest';
import type { PackManifest } from '../../lib/packs/pack-manifest.ts';
import { chosenFiles } from './chosen-files.ts';

const of = {
  brave: { files: ['search.yaml', 'brave.yaml'], environment: {} },
  tavily: { files: ['search.yaml', 'tavily.yaml'], environment: {} },
};
const manifest = { choices: { search: { means: 'Who is asked', of } } } as unknown as PackManifest;

it('brings the files of what was chosen, and none where nothing was', () => {
  expect(chosenFiles(manifest, { choose: { search: 'brave' } })).toEqual({
    files: ['search.yaml', 'brave.yaml'],
    problems: [],
  });
  expect(chosenFiles(manifest, { choose: {} })).toEqual({ files: [], problems: [] });
});

it.each([
  [{ serch: 'brave' }, 'serch', 'the pack has no such choice; did you mean "search"?'],
  [{ search: 'brve' }, 'search', '"brve": did you mean "brave"?'],
  [{ search: 'constructor' }, 'search', '"constructor": known: brave, tavily'],
  [{ constructor: 'brave' }, 'constructor', 'the pack has no such choice; known: search'],
])('%j is refused with what there is', (choose, choice, message) => {
  expect(chosenFiles(manifest, { choose })).toEqual({
    files: [],
    problems: [{ choice, message }],
  });
});
