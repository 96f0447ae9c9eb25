// What has to be true after a fault run, counted at the tool's own server and through the API.
import { setTimeout as pause } from 'node:timers/promises';
import { BURST, LIMIT, QUARANTINE_MS, RATE, type FaultBench } from '../../helpers/fault-bench.ts';
import { request, type RestTarget } from '../../helpers/rest-client.ts';
import type { Asked } from './clients.ts';
import type { FaultSpan } from './fault-tracks.ts';

export interface Verdict {
  /** Each is wrong, in a sentence. */
  readonly wrong: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly partial_side_effects: boolean;
}

const ENDED_WITHIN_MS = 240_000;
const PAGE = 500;
/** Calls let in at one moment reach the tool within so long of each other, on a busy machine. */
const SPREAD_MS = 1_000;
const WINDOW_MS = 10_000;
const NOTICED_MS = 3_000;

export async function verdictOf(
  bench: FaultBench,
  asked: readonly Asked[],
  spans: readonly FaultSpan[],
): Promise<Verdict> {
  const rows = await endedRows(bench.replicas[0] as RestTarget);
  const runs = ({ ref }: Asked) => bench.upstream.runs(ref);
  const accepted = asked.filter(({ isAsync, status }) => isAsync && status === 202);
  const direct = asked.filter(({ isAsync }) => !isAsync);
  const open = [...rows.values()].filter(({ status }) => status === 'queued' || status === 'running');
  const most = bench.upstream.mostAtOnce(0, Infinity, 'pay');
  const statusCounts = countsBy(accepted, ({ callId }) => rows.get(callId)?.status ?? 'gone');
  const wrong = [
    ...asked
      .filter((call) => call.tool === 'pay' && runs(call) > 1)
      .map(({ ref }) => `${ref} ran ${bench.upstream.runs(ref)} times`),
    ...accepted
      .filter((call) => isLost(rows.get(call.callId), runs(call)))
      .map(
        (call) =>
          `${call.ref} was accepted as ${call.callId}${call.isKeyed ? ', with a key' : ''}, at try ${call.tries}, and is lost: ` +
          `${rows.get(call.callId)?.status ?? 'not in the list of calls'}, ran ${runs(call)} times`,
      ),
    ...direct
      .filter((call) => call.ok && runs(call) === 0)
      .map(({ ref }) => `${ref} succeeded and did not run`),
    ...direct
      .filter((call) => call.ok && rows.get(call.callId)?.status !== 'succeeded')
      .map(
        ({ ref, callId }) => `${ref} succeeded and is on record as ${rows.get(callId)?.status ?? 'nothing'}`,
      ),
    ...direct
      .filter((call) => !call.ok && !call.mayHaveActed && runs(call) > 0)
      .map(({ ref, reason }) => `${ref} acted, and its caller was told that it had not (${reason})`),
    ...open.map(({ id, status }) => `${id} has no end: ${status}`),
    ...placesPassed(bench, spans),
    ...ratePassed(bench.upstream.arrivals('metered'), spans),
  ];
  return {
    wrong,
    counts: {
      'Calls made': asked.length,
      'Requests sent': asked.reduce((sum, { tries }) => sum + tries, 0),
      'Runs counted by the tool': asked.reduce((sum, call) => sum + runs(call), 0),
      'Direct calls that succeeded': direct.filter(({ ok }) => ok).length,
      'Asynchronous calls accepted': accepted.length,
      '… of these at a try whose answer was lost': accepted.filter(({ wasTold }) => !wasTold).length,
      ...Object.fromEntries([...statusCounts].map(([status, count]) => [`… of these ${status}`, count])),
      'Idempotent calls that ran more than once': asked.filter(
        (call) => call.tool === 'pay_again' && runs(call) > 1,
      ).length,
      'Outcomes said to be unknown': [...rows.values()].filter(({ status }) => status === 'outcome_unknown')
        .length,
      'Most runs at once of a tool with 4 places': most,
      'Metered calls let in': asked.filter((call) => call.tool === 'metered' && runs(call) > 0).length,
      'Metered calls refused by their rate': asked.filter(
        ({ tool, status }) => tool === 'metered' && status === 429,
      ).length,
    },
  };
}

/** Its outcome is known to be unknown, or it ran and succeeded, or it failed and says so. */
function isLost(row: Row | undefined, runs: number): boolean {
  if (row === undefined) return true;
  if (row.status === 'succeeded') return runs === 0;
  return row.status !== 'outcome_unknown' && runs > 0 && !row.partial_side_effects;
}

/** Never beyond the bound of docs/limits.md; and not beyond the limit where Redis was well for long enough. */
function placesPassed(bench: FaultBench, spans: readonly FaultSpan[]): readonly string[] {
  const wrong = [];
  const most = bench.upstream.mostAtOnce(0, Infinity, 'pay');
  if (most > 2 * LIMIT) wrong.push(`${most} ran at once where ${LIMIT} may, and ${2 * LIMIT} at the most`);
  for (const [from, to] of quietTimes(spans)) {
    const then = bench.upstream.mostAtOnce(from, to, 'pay');
    if (then > LIMIT) wrong.push(`${then} ran at once while Redis was well, where ${LIMIT} may`);
  }
  return wrong;
}

/** Within any ten seconds, the bound of docs/limits.md; a Redis that lost everything, and a gateway that begins, begin anew. */
function ratePassed(arrivals: readonly number[], spans: readonly FaultSpan[]): readonly string[] {
  const away = spans.filter(({ of }) => of === 'redis');
  const anew = spans.filter(
    ({ of, kind }) => of === 'gateway' || (of === 'redis' && kind.startsWith('killed')),
  );
  const wrong = [];
  for (let first = 0, last = 0; first < arrivals.length; first += 1) {
    const from = arrivals[first] ?? 0;
    while ((arrivals[last] ?? Infinity) <= from + WINDOW_MS) last += 1;
    const until = from + WINDOW_MS;
    const awayMs = away.reduce((sum, span) => sum + overlap(span, from, until), 0);
    const begun = anew.filter((span) => overlap(span, from, until) > 0).length;
    const bound = (RATE * (WINDOW_MS + SPREAD_MS + awayMs)) / 1000 + BURST * (2 + begun);
    if (last - first > bound)
      wrong.push(`${last - first} metered calls in ten seconds, where ${bound} may be`);
  }
  return wrong.slice(0, 3);
}

/** Until the gateways have found out that it is over. */
function overlap({ from, to = Infinity }: FaultSpan, since: number, until: number): number {
  return Math.max(0, Math.min(to + NOTICED_MS, until) - Math.max(from, since));
}

function quietTimes(spans: readonly FaultSpan[]): readonly (readonly [number, number])[] {
  const ofRedis = spans.filter(({ of }) => of !== 'postgres').toSorted((a, b) => a.from - b.from);
  return ofRedis.flatMap(({ to = Infinity }, index) => {
    const from = Math.max(to, ...ofRedis.slice(0, index).map((span) => span.to ?? Infinity)) + QUARANTINE_MS;
    const until = ofRedis[index + 1]?.from ?? Infinity;
    return from < until ? [[from, until] as const] : [];
  });
}

/** Every call that the API tells of, once none of them runs any more, or the time for that is over. */
async function endedRows(gateway: RestTarget): Promise<ReadonlyMap<string, Row>> {
  const giveUpAt = performance.now() + ENDED_WITHIN_MS;
  while (performance.now() < giveUpAt && (await anyOpen(gateway))) await pause(1_000);
  const rows = new Map<string, Row>();
  for await (const row of allCalls(gateway, '')) rows.set(row.id, row);
  return rows;
}

async function anyOpen(gateway: RestTarget): Promise<boolean> {
  for (const status of ['queued', 'running']) {
    for await (const row of allCalls(gateway, `&status=${status}`)) return row.id !== '';
  }
  return false;
}

async function* allCalls(gateway: RestTarget, filter: string): AsyncGenerator<Row> {
  for (let token = ''; ;) {
    const page = `/v1/calls?page_size=${PAGE}${filter}${token === '' ? '' : `&page_token=${encodeURIComponent(token)}`}`;
    const { body, status } = await request<{ calls?: readonly Row[]; next_page_token?: string | null }>(
      gateway,
      'GET',
      page,
    );
    if (status !== 200 || body.calls === undefined) throw new Error(`GET ${page} answered ${status}`);
    yield* body.calls;
    token = body.next_page_token ?? '';
    if (token === '') return;
  }
}

function countsBy<T>(list: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
  return new Map([...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
