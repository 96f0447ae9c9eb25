// Queries: lists and objects in the styles of OpenAPI.
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/json.ts';
import { compileQuery } from './compile-query.ts';
import type { QueryArgument } from '../options-schema.ts';

function written(said: Omit<QueryArgument, 'from'>, value: JsonValue): string {
  return compileQuery({ c: { from: 'x', ...said } }, new Set(['x']), new Set())({ x: value }, []);
}

const LIST = ['blue', 'a,b', 7];
const OBJECT = { R: 100, 'g&h': 'x=y', none: null };

describe('a query parameter', () => {
  it.each([
    [{}, LIST, '?c=blue&c=a%2Cb&c=7'],
    [{ style: 'form' }, LIST, '?c=blue&c=a%2Cb&c=7'],
    [{ style: 'form', explode: false }, LIST, '?c=blue,a%2Cb,7'],
    [{ style: 'spaceDelimited' }, LIST, '?c=blue%20a%2Cb%207'],
    [{ style: 'pipeDelimited' }, LIST, '?c=blue|a%2Cb|7'],
    [{ style: 'spaceDelimited', explode: true }, LIST, '?c=blue&c=a%2Cb&c=7'],
    [{ style: 'form' }, OBJECT, '?R=100&g%26h=x%3Dy'],
    [{ style: 'form', explode: false }, OBJECT, '?c=R,100,g%26h,x%3Dy'],
    [{ style: 'deepObject' }, OBJECT, '?c[R]=100&c[g%26h]=x%3Dy'],
    [{ style: 'form', explode: false }, [], ''],
    [{ style: 'form' }, {}, ''],
    [{ style: 'deepObject' }, null, ''],
    [{ explode: false }, 'one', '?c=one'],
  ] as const)('%j writes %j as %s', (said, value, expected) => {
    expect(written(said, structuredClone(value) as JsonValue)).toBe(expected);
  });

  it('of the connection cannot be declared by the tool', () => {
    expect(() => compileQuery({ key: 'x' }, new Set(), new Set(['key']))).toThrow(
      'query.key: the connection sets this parameter already.',
    );
  });
});
