// What shared state and records cost a call: Redis and PostgreSQL against a gateway alone, which records nothing.
import { inProcess, startGateway } from './children.js';
import {
  ROUNDS_OF_A_START,
  WARM_UP_SECONDS,
  alternated,
  compare,
  comparedStarts,
  number,
  report,
} from './measure.js';
import { calledFigures, callsOf } from './rest-load.js';
import { BODY, withStores } from './stores.js';

const TRIPS = 500;

const ROWS = [
  ['echo', 'REST echo on Redis and PostgreSQL, audit durable, 32 in flight', 32, 0.6],
  ['echo', 'the same, 128 in flight', 128, 0.75],
  ['echo_limited', 'the same with rate and concurrency limits, 32 in flight', 32, 0.6],
];

/** REST echo with everything shared and every call recorded, against a gateway that shares and records nothing. */
export async function shared() {
  await withStores(async ({ tools, shared: settings }) => {
    const rows = await comparedStarts(
      {
        theirs: () => startGateway({ tools, program: 'unrecorded-gateway.js' }),
        ours: () => startGateway({ tools, settings }),
      },
      async (alone, together) => {
        const figures = {};
        for (const [tool, what, inFlight] of ROWS) {
          const sides = [alone, together].map((gateway) => callsOf(gateway, tool, BODY, inFlight));
          for (const side of sides) await side(WARM_UP_SECONDS);
          figures[what] = await alternated(...sides, ROUNDS_OF_A_START);
        }
        return figures;
      },
    );
    for (const [, what, , least] of ROWS) {
      const { ratio, texts } = calledFigures(rows[what], 'nothing shared, nothing recorded');
      report(what, ...texts, `≥ ${least * 100} %`, ratio >= least);
    }
  });
}

/** What the one round trip to Redis adds to a call, alone on the machine. */
export async function admission() {
  await withStores(async ({ tools, shared: settings }) => {
    const run = { tools, tool: 'echo_limited', args: BODY, inFlight: 1, count: 5_000, warmUp: 5_000 };
    const { base, own } = await compare(
      async () => (await inProcess(run)).medianUs / 1000,
      async () => (await inProcess({ ...run, settings: { redis: settings.redis } })).medianUs / 1000,
      3,
    );
    report(
      'admission by Redis, one call in flight',
      `${number(own - base)} ms added at the median`,
      `${number(base)} ms (twin in memory)`,
      '–',
      '≤ 0.5 ms',
      own - base <= 0.5,
    );
  });
}

/** What a call of a declared session with budgets says to Redis, counted there: commands, not time. */
export async function sessionTrips() {
  await withStores(async ({ tools, shared: settings, redis }) => {
    const budgets = {
      per_session: { calls: 1_000_000 },
      per_user: { calls: 1_000_000 },
      per_tenant: { calls: 1_000_000 },
    };
    const modes = { text: { calls_per_turn: 1_000 } };
    const gateway = await startGateway({ tools, settings: { ...settings, modes, budgets } });
    const post = async (path, body) => {
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
      const answer = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    };
    const { id } = await post('/v1/sessions', { user_id: 'ann', mode: 'text' });
    const call = () => post('/v1/tools/echo/execute', { arguments: BODY, context: { session_id: id } });
    await call();
    const monitor = await redis.client.monitor();
    let commands = 0;
    // What a script does inside is part of it; what replicas say by the clock is of no call.
    monitor.on('monitor', (_time, args, source) => {
      if (source !== 'lua' && args.some((arg) => /:(call|budget|rate|lease):/.test(arg))) commands += 1;
    });
    for (let calls = 0; calls < TRIPS; calls += 1) await call();
    monitor.disconnect();
    report(
      'REST echo in a session with budgets of turn, session and day',
      `${number(commands / TRIPS)} commands to Redis per call`,
      `1 (admission)`,
      '–',
      '= 1',
      commands === TRIPS,
    );
    await gateway.stop();
  });
}
