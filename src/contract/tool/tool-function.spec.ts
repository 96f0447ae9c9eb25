// Functions over a connection with a limit: all of them carry it, also those that the legacy form stands for.
import { describe, expect, it } from 'vitest';
import { specOf } from '../../../test/helpers/call-kit.ts';
import { functionsOf, overConnection } from './tool-function.ts';

describe('overConnection', () => {
  it('gives the limit to every function, and the legacy form leads to those that have it', () => {
    const action = (name: string) => ({ name, description: name, parameters: [] });
    const spec = specOf({ actions: [action('a'), action('b')], metadata: { legacyExecute: true } });
    const limit = { connection: 'crm', limit: 2, maxQueue: 5 };
    const functions = overConnection(functionsOf(spec), limit);
    expect(functions.map(({ connectionLimit }) => connectionLimit)).toEqual([limit, limit, limit]);
    expect([...(functions[2]?.byAction?.values() ?? [])]).toEqual(functions.slice(0, 2));
    expect(functions[2]?.byAction?.get('a')).toBe(functions[0]);
  });
});

describe('functionsOf', () => {
  it('says of a parameter what its list holds and which members its object has', () => {
    const parameters = [
      { name: 'tags', type: 'array', required: true, items: { type: 'string' } },
      {
        name: 'place',
        type: 'object',
        required: false,
        properties: { city: { type: 'string' }, zip: { type: 'string' } },
        requiredProperties: ['city'],
      },
    ] as const;
    const [fn] = functionsOf(specOf({ actions: [{ name: 'go', description: 'Goes.', parameters }] }));
    expect(fn?.inputSchema).toEqual({
      type: 'object',
      properties: {
        tags: { type: 'array', items: { type: 'string' } },
        place: {
          type: 'object',
          properties: { city: { type: 'string' }, zip: { type: 'string' } },
          required: ['city'],
        },
      },
      required: ['tags'],
      additionalProperties: false,
    });
  });
});
