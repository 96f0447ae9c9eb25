// The suite that every twin of TrustedDefinitions passes.
import { describe, expect, it } from 'vitest';
import type {
  DefinitionListing,
  TrustedDefinitions,
  ListedDefinition,
} from '../../../src/ports/registry/trusted-definitions.ts';

export interface DefinitionsUnderTest {
  readonly trusted: TrustedDefinitions;
  /** The same definitions after the process has ended and another one began; undefined where nothing outlives it. */
  readonly reopened?: () => Promise<TrustedDefinitions>;
  close?(): Promise<void>;
}

const hashOf = (letter: string) => letter.repeat(64);

function listed(remoteName: string, letter: string): ListedDefinition {
  const definition = { name: remoteName, description: `Says ${letter}.`, inputSchema: { type: 'object' } };
  return { tool: `files.${remoteName}`, remoteName, seen: { hash: hashOf(letter), definition } };
}

function listing(
  definitions: readonly ListedDefinition[],
  changes: Partial<DefinitionListing> = {},
): DefinitionListing {
  return { server: 'files', definitions, pinFirst: true, ...changes };
}

export function describeTrustedDefinitions(twin: string, open: () => Promise<DefinitionsUnderTest>): void {
  describe(`TrustedDefinitions: ${twin}`, () => {
    async function withDefinitions(test: (under: DefinitionsUnderTest) => Promise<void>): Promise<void> {
      const under = await open();
      try {
        await test(under);
      } finally {
        await under.close?.();
      }
    }
    const states = async (trusted: TrustedDefinitions) =>
      Object.fromEntries((await trusted.list()).map(({ tool, state }) => [tool, state]));

    it('a server that has never listed anything is unknown, one that listed nothing is not', () =>
      withDefinitions(async ({ trusted }) => {
        expect(await trusted.of('files')).toBeUndefined();
        await trusted.record(listing([]));
        expect(await trusted.of('files')).toEqual([]);
      }));

    it('the first list is agreed to, what comes later is new, what differs is changed, what is missing is gone', () =>
      withDefinitions(async ({ trusted }) => {
        await trusted.record(listing([listed('a', 'a'), listed('b', 'b'), listed('c', 'c')]));
        await trusted.record(listing([listed('a', 'a'), listed('b', 'e'), listed('d', 'd')]));
        const now = { 'files.a': 'pinned', 'files.b': 'changed', 'files.c': 'gone', 'files.d': 'new' };
        expect(await states(trusted)).toEqual(now);
        const [, b] = await trusted.list();
        expect(b).toMatchObject({ pinned: { hash: hashOf('b'), by: '' }, seen: { hash: hashOf('e') } });
      }));

    it('with pinFirst false nothing is agreed to, then or later', () =>
      withDefinitions(async ({ trusted }) => {
        await trusted.record(listing([listed('a', 'a')], { pinFirst: false }));
        await trusted.record(listing([listed('a', 'a')]));
        expect(await states(trusted)).toEqual({ 'files.a': 'new' });
      }));

    it('what was gone and is back counts by what was agreed to', () =>
      withDefinitions(async ({ trusted }) => {
        await trusted.record(listing([listed('a', 'a'), listed('b', 'b')]));
        await trusted.record(listing([]));
        await trusted.record(listing([listed('a', 'a'), listed('b', 'x')]));
        expect(await states(trusted)).toEqual({ 'files.a': 'pinned', 'files.b': 'changed' });
      }));

    it('an approval is of one hash, of what was seen last; the same again is answered alike', () =>
      withDefinitions(async ({ trusted }) => {
        await trusted.record(listing([listed('a', 'a')]));
        await trusted.record(listing([listed('a', 'b')]));
        expect(await trusted.approve('files.a', hashOf('a'), 'ada')).toEqual({
          approved: false,
          why: 'other',
        });
        expect(await trusted.approve('files.x', hashOf('a'), 'ada')).toEqual({
          approved: false,
          why: 'unknown',
        });
        const first = await trusted.approve('files.a', hashOf('b'), 'ada');
        expect(first).toMatchObject({ approved: true, record: { state: 'pinned', pinned: { by: 'ada' } } });
        expect(await trusted.approve('files.a', hashOf('b'), 'bob')).toEqual(first);
      }));

    it('what cannot be a tool is never agreed to', () =>
      withDefinitions(async ({ trusted }) => {
        const refused = { ...listed('a', 'a'), seen: { refused: 'is too large' } };
        await trusted.record(listing([refused]));
        expect(await states(trusted)).toEqual({ 'files.a': 'new' });
        expect(await trusted.approve('files.a', hashOf('a'), 'ada')).toEqual({
          approved: false,
          why: 'refused',
        });
      }));

    it('of an approval and a list that come at once, the approval is of what was there when it was its turn', () =>
      withDefinitions(async ({ trusted }) => {
        await trusted.record(listing([listed('a', 'a')]));
        await trusted.record(listing([listed('a', 'b')]));
        const [, approval] = await Promise.all([
          trusted.record(listing([listed('a', 'c')])),
          trusted.approve('files.a', hashOf('b'), 'ada'),
        ]);
        expect(approval).toEqual({ approved: false, why: 'other' });
        expect(await states(trusted)).toEqual({ 'files.a': 'changed' });
      }));

    it('outlives the process, and shows the servers that are in use', () =>
      withDefinitions(async ({ trusted, reopened }) => {
        if (reopened === undefined) return;
        await trusted.record(listing([listed('a', 'a')]));
        await trusted.record(listing([listed('a', 'b')]));
        const next = await reopened();
        expect(await next.list()).toEqual([]);
        expect(await next.of('files')).toEqual(await trusted.of('files'));
        expect(await states(next)).toEqual({ 'files.a': 'changed' });
      }));
  });
}
