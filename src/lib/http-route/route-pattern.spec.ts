// Patterns of paths: what is one, which requests it takes, and that no encoding gets a request past its parts.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownPathFault } from './own-paths.ts';
import { comparePatterns, formOf, matchPattern, parsePattern, pathSteps } from './route-pattern.ts';

const taken = (pattern: string, path: string) => {
  const steps = pathSteps(path);
  const values = steps && matchPattern(parsePattern(pattern), steps);
  return values && Object.fromEntries(values);
};

describe('a pattern', () => {
  it.each([
    ['/orders/{id}', '/orders/7', { id: '7' }],
    ['/orders/{id}', '/orders/a%20b', { id: 'a b' }],
    ['/orders/{id}', '/orders/%2e%2e%2e', { id: '...' }],
    ['/orders/{id}/notes', '/orders/7/notes', { id: '7' }],
  ])('%s takes %s', (pattern, path, values) => {
    expect(taken(pattern, path)).toEqual(values);
  });

  it.each([
    '/orders',
    '/orders/',
    '/orders//',
    '/orders/7/',
    '/Orders/7',
    '/orders/..',
    '/orders/%2e%2e',
    '/orders/.',
    '/orders/a%2Fb',
    '/orders/a%5Cb',
    '/orders/a%00',
    '/orders/%0d%0aX:1',
    '/orders/%zz',
    '/orders/%C0%AF',
    'orders/7',
    '//orders/7',
  ])('/orders/{id} does not take %s', (path) => {
    expect(taken('/orders/{id}', path)).toBeUndefined();
  });

  it.each([
    ['orders', 'begins with "/"'],
    ['/orders/', 'is no part'],
    ['/orders//x', 'is no part'],
    ['/orders/..', 'is no part'],
    ['/orders/{}', 'is no part'],
    ['/orders/x{id}', 'is no part'],
    ['/orders/*', 'is no part'],
    ['/orders/:id', 'is no part'],
    ['/orders/%41', 'is no part'],
    ['/o/{id}/{id}', 'twice'],
    [`/${'a/'.repeat(20)}a`, 'at most 12'],
    [`/${'a'.repeat(201)}`, 'at most 200'],
  ])('%s is none', (path, message) => {
    expect(() => parsePattern(path)).toThrow(message);
  });

  it('gives what was encoded, and nothing that holds a slash or a step up', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), (text) => {
        const encoded = encodeSafely(text);
        const got = taken('/o/{id}', `/o/${encoded}`)?.['id'];
        const isTaken = !/[/\\\p{Cc}]|^\.{1,2}$/u.test(text);
        expect(got).toBe(isTaken ? text : undefined);
      }),
    );
  });

  it('with a fixed part goes before one with an argument there', () => {
    const [open, fixed] = ['/a/{x}/{y}', '/a/b/{y}'].map((path) => parsePattern(path));
    if (open === undefined || fixed === undefined) throw new Error('unreachable');
    expect([open, fixed].toSorted(comparePatterns)).toEqual([fixed, open]);
    expect(formOf(open)).toBe('/a/{}/{}');
  });
});

function encodeSafely(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2E');
}

describe('a path that an operator declares', () => {
  it.each(['/tts_admin/policies/{business_id}', '/orders', '/v1/admin/packs/shop/orders', '/livez2'])(
    '%s may be',
    (path) => expect(ownPathFault(parsePattern(path))).toBeUndefined(),
  );

  it.each([
    '/v1/tools',
    '/V1/tools',
    '/v1/admin/reload',
    '/v1/admin/packs/shop',
    '/v1/admin/packs/{name}/orders',
    '/v1/admin/packs',
    '/mcp/x',
    '/OAuth/callback',
    '/docs',
    '/livez',
    '/metrics',
    '/{anything}',
    '/{a}/{b}',
  ])('%s may not', (path) => expect(ownPathFault(parsePattern(path))).toBeDefined());
});
