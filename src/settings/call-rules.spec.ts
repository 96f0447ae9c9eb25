// The rules of modes and budgets: presets under what is said, units counted, contradictions told by their place.
import { describe, expect, it } from 'vitest';
import { callRulesOf, modeProblems } from './call-rules.ts';
import { budgets, modes } from './call-settings.ts';

const rulesOf = (said: object | undefined) =>
  Object.fromEntries(callRulesOf({ modes: said && modes.parse(said) }).modes);

describe('modes', () => {
  it('left out, none bounds anything', () => {
    expect(rulesOf(undefined)).toEqual({});
  });

  it('{} has the presets of the seeds', () => {
    expect(rulesOf({})).toEqual({
      voice: { mode: 'voice', retrievalsPerTurn: 2, retrievalSoftMs: 800 },
      text: { mode: 'text', retrievalsPerTurn: 5, retrievalSoftMs: 2_000 },
      live_call: { mode: 'live_call', callsPerTurn: 2, softMs: 200, hardMs: 400, turnMs: 1_000 },
    });
  });

  it('what is said lies over the preset, and null takes away what it says', () => {
    expect(
      rulesOf({ voice: { retrievals_per_turn: 4, retrieval_soft_ms: null, tools: ['a*'] } }),
    ).toMatchObject({
      voice: { mode: 'voice', retrievalsPerTurn: 4, tools: ['a*'] },
    });
    expect(rulesOf({ voice: { retrieval_soft_ms: null } })['voice']).not.toHaveProperty('retrievalSoftMs');
  });

  it.each([
    [{ voice: { turn_ms: 500 } }, 'voice.turn_ms'],
    [{ live_call: { hard_ms: null } }, 'live_call.turn_ms'],
    [{ live_call: { soft_ms: 401 } }, 'live_call.soft_ms'],
  ])('%j cannot be kept', (said, path) => {
    expect(modeProblems(modes.parse(said)).map((problem) => problem.path)).toEqual([path]);
  });

  it.each([
    { voice: { hard_ms: 0 } },
    { voice: { calls_per_turn: 1.5 } },
    { telepathy: {} },
    { voice: { max_risk: 'some' } },
  ])('%j is refused', (said) => {
    expect(modes.safeParse(said).success).toBe(false);
  });
});

describe('budgets', () => {
  it('money is counted in millionths', () => {
    const said = budgets.parse({ per_user: { calls: 10, cost: 0.1 }, per_tenant: { cost: 2.5 } });
    expect(callRulesOf({ budgets: said }).budgets).toEqual({
      session: {},
      user: { calls: 10, cost: 100_000 },
      agent: {},
      tenant: { cost: 2_500_000 },
      timeZone: 'UTC',
      onStoreFailure: 'local',
    });
  });

  it.each([
    { per_user: { calls: 0 } },
    { per_day: {} },
    { time_zone: 'Mars/Olympus' },
    { on_store_failure: 'open' },
  ])('%j is refused', (said) => {
    expect(budgets.safeParse(said).success).toBe(false);
  });
});
