// Suggestions as a caller sees them: of the tools that it is shown, each kind cut to what was asked for.
import { expect, it } from 'vitest';
import { compiledOf, recordingLog, recordingMetrics, specOf } from '../../../../test/helpers/call-kit.ts';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import { functionsOf } from '../../../contract/tool/tool-function.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import type { CallSequence } from '../../../ports/calls/call-sequences.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { snapshotOf } from '../../../registry/tool-spec-registry.ts';
import { SuggestionsController } from './controller.ts';
import { getSuggestions } from './schema.ts';

const COUNTS = { calls: 9, succeeded: 5, failed: 4, unapproved: 0, ran: 9, cost: 0, lastAt: new Date(0) };
const TIMES = { meanMs: 1, p50Ms: 1, p95Ms: 2, p99Ms: 2, maxMs: 2 };
const LATER = new Date(Date.now() - 3_600_000);

const seen = (tools: string, sessions: number): CallSequence => ({
  tools: tools.split(' '),
  sessions,
  calls: sessions,
});

async function suggested(query: Readonly<Record<string, string>> = {}) {
  const asked: object[] = [];
  const history = only<CallHistory>({
    analytics: async (_tenant, of) => {
      asked.push(of);
      return {
        countedFrom: of.from,
        isComplete: true,
        totals: { ...COUNTS, ...TIMES },
        byTool: [{ tool: 'find', ...COUNTS, ...TIMES }],
        byAgent: [],
        byDay: [],
        failures: [
          { tool: 'find', errorType: 'VALIDATION', reason: 'SCHEMA_MISMATCH', calls: 4, lastAt: new Date(0) },
        ],
      };
    },
    sequences: async (_tenant, of) => {
      asked.push(of);
      return {
        countedFrom: LATER,
        isComplete: false,
        sequences: [seen('find', 10), seen('find pay', 8), seen('find gone', 8), seen('find pay mail', 8)],
      };
    },
  });
  const specs = ['find', 'pay', 'mail', 'idle'].map((name) => specOf({ name }));
  const compiled = specs.flatMap(functionsOf).map((fn) => compiledOf(fn));
  const catalog = only<ToolCatalog>({ snapshot: () => snapshotOf(specs, compiled) });
  const telemetry = { log: recordingLog(), metrics: recordingMetrics() };
  const controller = new SuggestionsController(history, catalog, telemetry);
  return { body: (await ask(controller, getSuggestions, { query })).body, asked };
}

it('tell what to offer next, to put together, to mend and to leave out, never of a tool that is not shown', async () => {
  const { body } = await suggested();
  expect(body).toMatchObject({
    complete: false,
    counted_from: LATER.toISOString(),
    suggestions: [
      { kind: 'next', tools: ['find', 'pay'], sessions: 8, share: 0.8 },
      { kind: 'plan', tools: ['find', 'pay', 'mail'], sessions: 8 },
      { kind: 'mend', tools: ['find'], calls: 4, error_type: 'VALIDATION', reason: 'SCHEMA_MISMATCH' },
      { kind: 'unused', tools: ['idle'] },
      { kind: 'unused', tools: ['mail'] },
      { kind: 'unused', tools: ['pay'] },
    ],
  });
  expect(JSON.stringify(body)).not.toContain('gone');
});

it('hold at most as many of each kind as were asked for', async () => {
  const { body } = await suggested({ top: '1' });
  const { suggestions } = body as { suggestions: readonly { kind: string }[] };
  expect(suggestions.map(({ kind }) => kind)).toEqual(['next', 'plan', 'mend', 'unused']);
});

it('of an agent are counted for that agent alone', async () => {
  const { asked } = await suggested({ agent_id: 'desk' });
  expect(asked).toMatchObject([{ agentId: 'desk' }, { agentId: 'desk' }]);
});

it.each([[{ top: '0' }], [{ from: 'yesterday' }], [{ kind: 'next' }]])('of %j are refused', async (query) => {
  await expect(suggested(query as Record<string, string>)).rejects.toMatchObject({ type: 'VALIDATION' });
});
