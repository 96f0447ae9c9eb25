// What every RegistryHints keeps: replicas hear each other, live while they beat, and are gone soon after.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RegistryHints, ReplicaState } from '../../../src/ports/registry/registry-hints.ts';
import { eventually } from '../../helpers/eventually.ts';

export interface HintsBench {
  /** Two replicas' sides of the same store. */
  readonly one: RegistryHints;
  readonly two: RegistryHints;
  /** As if so much time had passed. */
  pass(ms: number): Promise<unknown>;
  close?(): Promise<void>;
}

const stateOf = (id: string, hash = 'h1'): ReplicaState => ({ id, version: `1.0.${hash}`, hash });

export function describeRegistryHints(name: string, make: () => Promise<HintsBench>): void {
  describe(`RegistryHints: ${name}`, () => {
    let bench: HintsBench;

    beforeEach(async () => {
      bench = await make();
    });

    afterEach(() => bench.close?.());

    it('what one announces, the other hears', async () => {
      const heard: ReplicaState[] = [];
      bench.two.onHint((state) => heard.push(state));
      // Who subscribes a moment too late hears nothing: hints are no promise.
      await eventually(async () => {
        await bench.one.announce(stateOf('a'));
        expect(heard[0]).toEqual(stateOf('a'));
      });
    });

    it('who has stopped listening hears nothing more', async () => {
      const heard: string[] = [];
      const end = bench.two.onHint(({ id }) => heard.push(`gone ${id}`));
      bench.two.onHint(({ id }) => heard.push(id));
      end();
      await eventually(async () => {
        await bench.one.announce(stateOf('a'));
        expect(heard).toContain('a');
      });
      expect(heard.filter((line) => line.startsWith('gone'))).toEqual([]);
    });

    it('a heartbeat gives every replica that lives, each in its newest state', async () => {
      expect(await bench.one.heartbeat(stateOf('a'))).toEqual([
        { ...stateOf('a'), seenAt: expect.any(Number) },
      ]);
      await bench.two.heartbeat(stateOf('b'));
      await bench.one.heartbeat(stateOf('a', 'h2'));
      const seen = await bench.two.heartbeat(stateOf('b'));
      expect(seen.map(({ id, hash }) => `${id} ${hash}`).toSorted()).toEqual(['a h2', 'b h1']);
    });

    it('a replica that falls silent is gone after its time', async () => {
      await bench.one.heartbeat(stateOf('a'));
      await bench.pass(10_000);
      expect(await bench.two.heartbeat(stateOf('b'))).toHaveLength(2);
      await bench.pass(6_000);
      expect((await bench.two.heartbeat(stateOf('b'))).map(({ id }) => id)).toEqual(['b']);
    });

    it('a replica that leaves is gone at once, and may come back', async () => {
      await bench.one.heartbeat(stateOf('a'));
      await bench.one.leave('a');
      await bench.one.leave('nobody');
      expect((await bench.two.heartbeat(stateOf('b'))).map(({ id }) => id)).toEqual(['b']);
      await bench.one.heartbeat(stateOf('a'));
      expect(await bench.two.heartbeat(stateOf('b'))).toHaveLength(2);
    });
  });
}
