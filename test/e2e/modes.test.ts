// The modes of the seeds over running gateways, by row of the mission: B4 voice and text, B4/E3 live_call; over both doors.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const TOOLS = ['examples/sessions/tools.yaml'];
/** On a busy machine a call may take longer than a person would wait: where calls are counted, time is no matter. */
const PATIENT = { soft_ms: null, retrieval_soft_ms: null, hard_ms: 3_000_000, turn_ms: 3_600_000 };

let presets: RunningGateway;
let patient: RunningGateway;
let doors: Readonly<Record<'presets' | 'patient', readonly Door[]>>;

beforeAll(async () => {
  presets = await startGateway({ tools: TOOLS, settings: { modes: {} } });
  const modes = { voice: { retrieval_soft_ms: null }, text: { retrieval_soft_ms: null }, live_call: PATIENT };
  patient = await startGateway({ tools: TOOLS, settings: { modes } });
  const both = (gateway: RunningGateway) => [restDoor(gateway), grpcDoor(gateway)];
  doors = { presets: both(presets), patient: both(patient) };
});

afterAll(async () => {
  for (const door of [...(doors?.presets ?? []), ...(doors?.patient ?? [])]) door.close();
  await Promise.all([presets?.stop(), patient?.stop()]);
});

let turns = 0;
/** A turn of its own. */
function newTurn(mode: string) {
  turns += 1;
  return { mode, session_id: 'conversation', turn_id: `turn-${turns}`, user_id: 'ann' };
}

function call(
  door: Door,
  gateway: RunningGateway,
  tool: string,
  args: object,
  context: Record<string, string>,
) {
  return door.call({ tool, argumentsJson: JSON.stringify(args), context, key: gateway.keys.agent.text });
}

const FAQ = { topic: 'parking' };
const OK = { ok: true };
const spent = (budget: string): object => ({
  ok: false,
  type: 'BUDGET_EXCEEDED',
  reason: 'BUDGET_SPENT',
  message: expect.stringContaining(budget),
});

describe.each([0, 1])('door %i', (index) => {
  const counted = (tool: string, args: object, context: Record<string, string>) =>
    call(doors.patient[index] as Door, patient, tool, args, context);
  const timed = (tool: string, args: object, context: Record<string, string>) =>
    call(doors.presets[index] as Door, presets, tool, args, context);

  it.each([
    ['B4 voice: two retrievals a turn', 'voice', 2],
    ['B4 text: five retrievals a turn', 'text', 5],
  ])(
    '%s, the next is BUDGET_EXCEEDED; actions are free, and so is the next turn',
    async (_row, mode, most) => {
      const turn = newTurn(mode);
      for (let each = 0; each < most; each += 1)
        expect(
          await counted(each % 2 === 0 ? 'get_faqs' : 'get_working_hours', each % 2 === 0 ? FAQ : {}, turn),
        ).toMatchObject(OK);
      const refusal = await counted('get_faqs', FAQ, turn);
      expect(refusal).toMatchObject(spent('turn_retrievals'));
      expect(refusal.message).toContain(`The budget turn_retrievals of ${most}`);
      expect(await counted('take_message', { text: 'x' }, turn)).toMatchObject(OK);
      expect(await counted('get_faqs', FAQ, newTurn(mode))).toMatchObject(OK);
    },
  );

  it('B4/E3 live_call: two calls of any kind a turn', async () => {
    const turn = newTurn('live_call');
    expect(await counted('get_faqs', FAQ, turn)).toMatchObject(OK);
    expect(await counted('take_message', { text: 'x' }, turn)).toMatchObject(OK);
    expect(await counted('take_message', { text: 'x' }, turn)).toMatchObject(spent('turn_calls'));
    expect(await counted('get_working_hours', {}, newTurn('live_call'))).toMatchObject(OK);
  });

  it('E3 live_call: a tool that takes longer than 400 ms is ended', async () => {
    const late = await timed('get_faqs', { ...FAQ, slow_ms: 5_000 }, newTurn('live_call'));
    expect(late).toMatchObject({ ok: false, type: 'TIMEOUT', reason: 'MODE_TIMEOUT' });
  });

  it('B4 a call that names no mode is bounded by none', async () => {
    const { mode: _none, ...turn } = newTurn('voice');
    for (let each = 0; each < 4; each += 1) expect(await counted('get_faqs', FAQ, turn)).toMatchObject(OK);
  });
});

it.each([
  ['B4 voice: a retrieval of more than 800 ms', 'voice', 900, 800],
  ['B4 text: a retrieval of more than 2 s', 'text', 2_100, 2_000],
  ['E3 live_call: a tool of more than 200 ms', 'live_call', 250, 200],
])('%s is told of, in meta and by a counter', async (_row, mode, slowMs, softMs) => {
  const decision = await call(
    doors.presets[0] as Door,
    presets,
    'get_faqs',
    { ...FAQ, slow_ms: slowMs },
    newTurn(mode),
  );
  // A machine that is busy may make the live call late altogether: that is counted as well.
  expect(decision).toMatchObject(mode === 'live_call' ? {} : { meta: { soft_limit_ms: softMs } });
  const text = await (await fetch(presets.service.metricsUrl)).text();
  expect(text).toMatch(new RegExp(`ute_soft_limit_exceeded_total\\{mode="${mode}",tool="get_faqs"\\} [1-9]`));
});

it('E3 live_call: one second for all calls of a turn, and what was not used is left for the next', async () => {
  const turn = newTurn('live_call');
  const modes = { live_call: { calls_per_turn: 9, soft_ms: null, hard_ms: 3_000_000, turn_ms: 600 } };
  const gateway = await startGateway({ tools: TOOLS, settings: { modes } });
  const door = restDoor(gateway);
  try {
    const first = await call(door, gateway, 'get_faqs', { ...FAQ, slow_ms: 5_000 }, turn);
    expect(first).toMatchObject({ type: 'TIMEOUT', reason: 'TURN_TIME_SPENT' });
    expect(await call(door, gateway, 'get_faqs', FAQ, turn)).toMatchObject(spent('turn_ms'));
    expect(await call(door, gateway, 'get_faqs', FAQ, newTurn('live_call'))).toMatchObject(OK);
  } finally {
    await gateway.stop();
  }
});

it('a mode that is none is refused, with those that are', async () => {
  const door = doors.presets[0] as Door;
  const refusal = await call(door, presets, 'get_faqs', FAQ, { mode: 'live-call' });
  expect(refusal).toMatchObject({ ok: false, type: 'VALIDATION' });
  expect(refusal.message).toContain('must be one of voice, text, live_call; did you mean "live_call"?');
});

describe('MODE_RESTRICTED', () => {
  it('B4 a tool that gateway.yaml does not allow in a mode is refused in it, and runs in another', async () => {
    const gateway = await startGateway({ tools: TOOLS, settings: { modes: { voice: { max_risk: 'low' } } } });
    const all = [restDoor(gateway), grpcDoor(gateway)];
    try {
      for (const door of all) {
        const refused = await call(door, gateway, 'refund', {}, newTurn('voice'));
        expect(refused).toMatchObject({ type: 'MODE_RESTRICTED', reason: 'MODE_RULE' });
        expect(await call(door, gateway, 'refund', {}, newTurn('text'))).toMatchObject(OK);
      }
    } finally {
      for (const door of all) door.close();
      await gateway.stop();
    }
  });

  it('a gateway.yaml that speaks of a mode that is none is refused, with those that are', async () => {
    const start = startGateway({ tools: TOOLS, settings: { modes: { telepathy: {} } } });
    await expect(start).rejects.toThrow(
      'modes.telepathy: unknown key "telepathy"; known: voice, text, live_call',
    );
  });

  it('an order of the pipeline without what counts is refused where something is to be counted', async () => {
    const pipeline = { tool: ['authorization', 'modes', 'validation'] };
    await expect(startGateway({ tools: TOOLS, settings: { modes: {}, pipeline } })).rejects.toThrow(
      'admission',
    );
  });
});
