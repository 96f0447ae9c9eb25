// ToolSearcher: every replica finds the same, in the same order, and reading many tools holds nobody up, also after a reload.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compiledOf, recordingMetrics, specOf } from '../../../test/helpers/call-kit.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import type { RegistrySnapshot } from '../../contract/tool/registry-snapshot.ts';
import { snapshotOf, ToolSpecRegistry } from '../tool-spec-registry.ts';
import { ToolSearcher } from './tool-searcher.ts';

const MANY = 10_000;
const MOST_MS = 50;
const VERBS = ['create', 'list', 'delete', 'update', 'send', 'archive', 'read', 'find', 'move', 'share'];
const THINGS = ['invoice', 'booking', 'customer', 'message', 'document', 'folder', 'order', 'ticket'];
const TOOLS = VERBS.flatMap((verb) => THINGS.map((thing) => ({ verb, thing })));

function setOf(tools: readonly { verb: string; thing: string; of?: number }[]): RegistrySnapshot {
  const specs = tools.map(({ verb, thing, of = 0 }) =>
    specOf({ name: `${verb}_${thing}_${of}`, description: `Will ${verb} one ${thing} of product ${of}` }),
  );
  return snapshotOf(specs, specs.flatMap(functionsOf).map(compiledOf));
}

function replica(set: RegistrySnapshot) {
  const registry = new ToolSpecRegistry();
  registry.publish(set);
  const search = new ToolSearcher({ catalog: registry, metrics: recordingMetrics() });
  const found = async (query: string) => {
    const wanted = { set: registry.snapshot(), query, limit: 10, may: () => true };
    return (await search.search(wanted)).map(({ name }) => name);
  };
  return { registry, found };
}

/** Processor time of this thread that passed at most before something else had its turn, while `work` was under way. */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const done = new AbortController();
  let longest = 0;
  const working = work().finally(() => done.abort());
  for (let last = spent(); !done.signal.aborted; last = spent()) {
    await new Promise(setImmediate);
    longest = Math.max(longest, spent() - last);
  }
  await working;
  return longest;
}

describe('a search', () => {
  it('finds the same in the same order on every replica, however each of them was given the tools', async () => {
    const question = fc
      .tuple(fc.constantFrom(...VERBS), fc.constantFrom(...THINGS), fc.constantFrom('', 'one', 'my', 'all'))
      .map(([verb, thing, between]) => `${verb} ${between} ${thing}`);
    const order = fc.shuffledSubarray(TOOLS, { minLength: TOOLS.length });
    const one = replica(setOf(TOOLS));
    await fc.assert(
      fc.asyncProperty(order, question, async (tools, query) => {
        expect(await replica(setOf(tools)).found(query)).toEqual(await one.found(query));
      }),
      { numRuns: 20 },
    );
  });

  it(`of ${MANY} tools gives everything else its turn while they are read, at first and after a reload`, async () => {
    const many = (from: number) =>
      setOf(
        Array.from({ length: MANY }, (_, at) => ({
          ...(TOOLS[at % TOOLS.length] as (typeof TOOLS)[number]),
          of: from + Math.floor(at / TOOLS.length),
        })),
      );
    const { registry, found } = replica(many(0));
    const read = async () => expect(await found('send an invoice')).toHaveLength(10);
    const holds = [await longestHold(read)];
    for (let load = 1; load < 5 && (load < 2 || Math.min(...holds) >= MOST_MS); load += 1) {
      registry.publish(many(load));
      holds.push(await longestHold(read));
    }
    // A collection of garbage may fall into any one of them.
    expect(Math.min(...holds)).toBeLessThan(MOST_MS);
  }, 60_000);

  it(`of ${MANY} tools by beginnings that all of them have gives everything else its turn, also beside many others`, async () => {
    const { found } = replica(
      setOf(
        Array.from({ length: MANY }, (_, at) => ({
          ...(TOOLS[at % TOOLS.length] as (typeof TOOLS)[number]),
          of: at,
        })),
      ),
    );
    await found('send an invoice');
    const all = () =>
      Promise.all(Array.from({ length: 10 }, () => found('prod produ produc crea upda dele find')));
    const holds: number[] = [];
    while (holds.length < 5 && (holds.length < 1 || Math.min(...holds) >= MOST_MS))
      holds.push(await longestHold(all));
    expect(Math.min(...holds)).toBeLessThan(MOST_MS);
  }, 60_000);
});
