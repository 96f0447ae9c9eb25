// What waiting on a limit costs.
import { startGateway } from './children.js';
import { number, report } from './measure.js';
import { withStores } from './stores.js';

/** 1,000 calls at once on a limit of 50: what waiting costs in memory, and whether the order is kept. */
export async function waiting() {
  await withStores(async ({ tools, shared: settings }) => {
    const gateway = await startGateway({ tools, settings });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` };
    const ended = [];
    const call = async () => {
      const response = await fetch(`${gateway.url}/v1/tools/sleep/execute`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ arguments: { ms: 100 } }),
      });
      const { meta } = await response.json();
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      ended.push(meta.call_id);
    };
    await Promise.all(Array.from({ length: 100 }, call));
    ended.length = 0;
    const before = gateway.residentMb();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, gateway.residentMb())), 20);
    await Promise.all(Array.from({ length: 1_000 }, call));
    clearInterval(watch);
    await gateway.stop();
    // Ids ascend as calls come in, and waves of 50 end together: out of order is who ended two waves away from its turn.
    const turns = new Map(ended.toSorted((a, b) => (a < b ? -1 : 1)).map((id, turn) => [id, turn]));
    const astray = ended.filter((id, place) => Math.abs(turns.get(id) - place) > 100).length;
    report(
      '1,000 calls waiting on a limit of 50',
      `${number(most - before)} MB more, ${astray} out of order`,
      `${number(before)} MB (before)`,
      '–',
      '< 100 MB, 0',
      most - before < 100 && astray === 0,
    );
  });
}
