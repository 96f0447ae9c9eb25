// The legacy form: whatever it is given, what comes out is the call of one declared action, or a refusal.
import { describe, expect, it } from 'vitest';
import { callOf, requestOf, specOf } from '../../../test/helpers/call-kit.ts';
import type { JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import { resolveLegacyAction } from './resolve-legacy-action.ts';

const action = (name: string) => ({ name, description: name, parameters: [] });
const spec = specOf({
  name: 'calendar',
  actions: [action('list_events'), action('create_event')],
  metadata: { legacyExecute: true },
});
const legacy = functionsOf(spec).at(-1);

function typed(args: Record<string, JsonValue>) {
  const request = requestOf({ tool: 'calendar', arguments: args });
  const call = callOf({ request, function: legacy });
  return { call, made: () => resolveLegacyAction(call, legacy?.byAction ?? new Map()) };
}

describe('functionsOf', () => {
  it('adds the legacy form last, under the name of the tool', () => {
    expect(functionsOf(spec).map(({ name }) => name)).toEqual([
      'calendar.list_events',
      'calendar.create_event',
      'calendar',
    ]);
    expect(legacy?.description).toContain(
      'Deprecated: call calendar.list_events, calendar.create_event instead.',
    );
    expect(legacy?.inputSchema).toMatchObject({
      properties: { action: { enum: ['list_events', 'create_event'] } },
      required: ['action'],
    });
  });

  it('adds none where nobody asked for it', () => {
    expect(functionsOf(specOf({ actions: [action('a')] })).map(({ name }) => name)).toEqual(['greet.a']);
  });
});

describe('resolveLegacyAction', () => {
  it.each<[string, JsonValue | undefined, object]>([
    ['an object', { title: 'x' }, { title: 'x' }],
    ['the JSON text of an object', '{"title": "x"}', { title: 'x' }],
    ['nothing', undefined, {}],
    ['null', null, {}],
    ['empty text', '', {}],
  ])('takes %s as details', (_what, details, expected) => {
    const { call, made } = typed({ action: 'create_event', ...(details !== undefined && { details }) });
    expect(made()).toMatchObject({ function: { name: 'calendar.create_event' }, arguments: expected });
    expect(call.progress.successor).toBe('calendar.create_event');
  });

  it('keeps a business_id for the check against the tenant, also against one in details', () => {
    const { made } = typed({
      action: 'list_events',
      business_id: 'acme',
      details: { business_id: 'other', a: 1 },
    });
    expect(made().arguments).toEqual({ business_id: 'acme', a: 1 });
  });

  it.each<[string, Record<string, JsonValue>, string]>([
    ['an unknown action', { action: 'drop_all' }, '/action'],
    ['an inherited name as action', { action: 'constructor' }, '/action'],
    ['no action', { details: {} }, '/action'],
    ['a list as action', { action: ['list_events'] }, '/action'],
    ['arguments beside details', { action: 'list_events', title: 'x' }, '/title'],
    ['a list as details', { action: 'list_events', details: [] }, '/details'],
    ['text that is no JSON', { action: 'list_events', details: 'tomorrow' }, '/details'],
    ['the JSON text of a list', { action: 'list_events', details: '[]' }, '/details'],
    ['JSON text with __proto__', { action: 'list_events', details: '{"__proto__": {}}' }, '/details'],
    ['JSON text with a key twice', { action: 'list_events', details: '{"a": 1, "a": 2}' }, '/details'],
  ])('refuses %s', (_what, args, pointer) => {
    const { made } = typed(args);
    expect(made).toThrow(ToolFailure);
    expect(made).toThrow(
      expect.objectContaining({
        type: 'VALIDATION',
        details: { violations: [expect.objectContaining({ pointer })] },
      }) as Error,
    );
  });
});
