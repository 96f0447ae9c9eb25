// The suite that every twin of DefinitionPins passes.
import { describe, expect, it } from 'vitest';
import type {
  DefinitionListing,
  DefinitionPins,
  ListedDefinition,
} from '../../../src/ports/registry/definition-pins.ts';

export interface PinsUnderTest {
  readonly pins: DefinitionPins;
  /** The same pins after the process has ended and another one began; undefined where nothing outlives it. */
  readonly reopened?: () => Promise<DefinitionPins>;
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

export function describeDefinitionPins(twin: string, open: () => Promise<PinsUnderTest>): void {
  describe(`DefinitionPins: ${twin}`, () => {
    async function withPins(test: (under: PinsUnderTest) => Promise<void>): Promise<void> {
      const under = await open();
      try {
        await test(under);
      } finally {
        await under.close?.();
      }
    }
    const states = async (pins: DefinitionPins) =>
      Object.fromEntries((await pins.list()).map(({ tool, state }) => [tool, state]));

    it('a server that has never listed anything is unknown, one that listed nothing is not', () =>
      withPins(async ({ pins }) => {
        expect(await pins.of('files')).toBeUndefined();
        await pins.record(listing([]));
        expect(await pins.of('files')).toEqual([]);
      }));

    it('the first list is agreed to, what comes later is new, what differs is changed, what is missing is gone', () =>
      withPins(async ({ pins }) => {
        await pins.record(listing([listed('a', 'a'), listed('b', 'b'), listed('c', 'c')]));
        await pins.record(listing([listed('a', 'a'), listed('b', 'e'), listed('d', 'd')]));
        const now = { 'files.a': 'pinned', 'files.b': 'changed', 'files.c': 'gone', 'files.d': 'new' };
        expect(await states(pins)).toEqual(now);
        const [, b] = await pins.list();
        expect(b).toMatchObject({ pinned: { hash: hashOf('b'), by: '' }, seen: { hash: hashOf('e') } });
      }));

    it('with pinFirst false nothing is agreed to, then or later', () =>
      withPins(async ({ pins }) => {
        await pins.record(listing([listed('a', 'a')], { pinFirst: false }));
        await pins.record(listing([listed('a', 'a')]));
        expect(await states(pins)).toEqual({ 'files.a': 'new' });
      }));

    it('what was gone and is back counts by what was agreed to', () =>
      withPins(async ({ pins }) => {
        await pins.record(listing([listed('a', 'a'), listed('b', 'b')]));
        await pins.record(listing([]));
        await pins.record(listing([listed('a', 'a'), listed('b', 'x')]));
        expect(await states(pins)).toEqual({ 'files.a': 'pinned', 'files.b': 'changed' });
      }));

    it('an approval is of one hash, of what was seen last; the same again is answered alike', () =>
      withPins(async ({ pins }) => {
        await pins.record(listing([listed('a', 'a')]));
        await pins.record(listing([listed('a', 'b')]));
        expect(await pins.approve('files.a', hashOf('a'), 'ada')).toEqual({ approved: false, why: 'other' });
        expect(await pins.approve('files.x', hashOf('a'), 'ada')).toEqual({
          approved: false,
          why: 'unknown',
        });
        const first = await pins.approve('files.a', hashOf('b'), 'ada');
        expect(first).toMatchObject({ approved: true, record: { state: 'pinned', pinned: { by: 'ada' } } });
        expect(await pins.approve('files.a', hashOf('b'), 'bob')).toEqual(first);
      }));

    it('what cannot be a tool is never agreed to', () =>
      withPins(async ({ pins }) => {
        const refused = { ...listed('a', 'a'), seen: { refused: 'is too large' } };
        await pins.record(listing([refused]));
        expect(await states(pins)).toEqual({ 'files.a': 'new' });
        expect(await pins.approve('files.a', hashOf('a'), 'ada')).toEqual({
          approved: false,
          why: 'refused',
        });
      }));

    it('of an approval and a list that come at once, the approval is of what was there when it was its turn', () =>
      withPins(async ({ pins }) => {
        await pins.record(listing([listed('a', 'a')]));
        await pins.record(listing([listed('a', 'b')]));
        const [, approval] = await Promise.all([
          pins.record(listing([listed('a', 'c')])),
          pins.approve('files.a', hashOf('b'), 'ada'),
        ]);
        expect(approval).toEqual({ approved: false, why: 'other' });
        expect(await states(pins)).toEqual({ 'files.a': 'changed' });
      }));

    it('outlives the process, and shows the servers that are in use', () =>
      withPins(async ({ pins, reopened }) => {
        if (reopened === undefined) return;
        await pins.record(listing([listed('a', 'a')]));
        await pins.record(listing([listed('a', 'b')]));
        const next = await reopened();
        expect(await next.list()).toEqual([]);
        expect(await next.of('files')).toEqual(await pins.of('files'));
        expect(await states(next)).toEqual({ 'files.a': 'changed' });
      }));
  });
}
