// Compiled requests: arguments fill their places, and whatever they hold they never change where the request goes.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../../test/helpers/any-character.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { compileRequest, type FilledRequest, type RequestBase } from './compile-request.ts';
import type { RequestOptions } from '../options-schema.ts';

const BASE: RequestBase = {
  url: new URL('https://api.example.com/base/'),
  headers: { Authorization: 'Bearer secret' },
};

function fill(request: RequestOptions, args: JsonObject, base?: RequestBase): FilledRequest {
  return compileRequest(request, base, []).fill(args);
}

function violationsOf(request: RequestOptions, args: JsonObject): unknown {
  try {
    fill(request, args);
  } catch (error) {
    if (error instanceof ToolFailure) return { type: error.type, reason: error.reason, ...error.details };
    throw error;
  }
  return undefined;
}

/** As the upstream would see them; undefined for a refusal. */
function segmentsOf(origin: string, path: () => string): readonly string[] | undefined {
  try {
    const url = new URL(origin + path());
    return url.origin === origin ? url.pathname.split('/').map(decodeURIComponent) : [];
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

describe('the path of a request', () => {
  const request: RequestOptions = { url: 'https://api.example.com/v1/users/{id}/notes/{note}.json' };

  it('holds arguments as encoded segments', () => {
    expect(fill(request, { id: 'Ada L.', note: 7 }).path).toBe('/v1/users/Ada%20L./notes/7.json');
  });

  it.each(['', '.', '..', 'a/../b', '%2e%2e%2fb', '..\\x', '%2e%2e', 'a\nb', '\u007f', 'lone \ud800'])(
    'refuses %j',
    (id) => {
      expect(violationsOf(request, { id, note: 1 })).toMatchObject({
        type: 'VALIDATION',
        reason: 'UNSAFE_ARGUMENT',
        violations: [{ pointer: '/id' }],
      });
    },
  );

  it('names every argument that cannot be placed, the missing ones too', () => {
    expect(violationsOf(request, { id: ['x'] })).toMatchObject({
      violations: [{ pointer: '/id' }, { pointer: '/note' }],
    });
    expect(violationsOf(request, { id: null })).toMatchObject({
      violations: [{ pointer: '/id' }, { pointer: '/note' }],
    });
  });

  it('refuses a segment that only the literals around the argument make dangerous', () => {
    expect(violationsOf({ url: 'https://a.example/x/.{dot}' }, { dot: 'a' })).toBeUndefined();
    expect(violationsOf({ url: 'https://a.example/x/%2e{dot}' }, { dot: '-' })).toBeUndefined();
    expect(violationsOf({ url: 'https://a.example/x/{a}{b}' }, { a: '.', b: '.' })).toMatchObject({
      violations: [{ pointer: '/a' }, { pointer: '/b' }],
    });
  });

  it('stays on its origin and keeps its segments for any text', () => {
    const { origin, fill } = compileRequest(
      { url: 'https://api.example.com/v1/{a}/x-{b}/end' },
      undefined,
      [],
    );
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom('.', '/', '%', '2', 'e', '?', '#', '@', ' '), anyCharacter),
    });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const found = segmentsOf(origin, () => fill({ a, b }).path);
        const mayRefuse = [a, b].some((text) => text === '' || /\.|%2e|[\\\p{Cc}]/iu.test(text));
        expect(found ?? (mayRefuse ? 'refused' : found)).toEqual(
          found === undefined ? 'refused' : ['', 'v1', a, `x-${b}`, 'end'],
        );
      }),
    );
  });

  it('stands below the base URL of the connection', () => {
    const request: RequestOptions = { path: '/users/{id}' };
    expect(fill(request, { id: 1 }, BASE).path).toBe('/base/users/1');
    expect(compileRequest(request, BASE, []).origin).toBe('https://api.example.com');
  });

  it.each(['/a/../b', '/a b', '/é', '/%zz', '/a/%2e%2e/b'])(
    'is refused at load when written as %s',
    (path) => {
      expect(() => compileRequest({ path }, BASE, [])).toThrow(/^path: expected/);
    },
  );
});

describe('the query of a request', () => {
  const url = 'https://api.example.com/search';

  it('leaves out what was left out, repeats arrays and encodes names and values', () => {
    const query = { 'q[]': '{terms}', limit: { from: 'limit' }, sort: 'by {field}', v: 2, empty: '{none}' };
    expect(fill({ url, query }, { terms: ['a&b', 'c=d'], limit: 5, none: null }).path).toBe(
      '/search?q%5B%5D=a%26b&q%5B%5D=c%3Dd&limit=5&v=2',
    );
  });

  it('takes the remaining arguments when it says so', () => {
    const request: RequestOptions = { url: 'https://api.example.com/{a}', query: 'remaining' };
    expect(fill(request, { a: 1, 'b c': true, d: ['x', 2] }).path).toBe('/1?b%20c=true&d=x&d=2');
  });

  it('refuses objects, nested arrays and broken Unicode', () => {
    const args = { a: { b: 1 }, 'c/d': [[1]], e: '\ud800' };
    expect(violationsOf({ url, query: 'remaining' }, args)).toMatchObject({
      violations: [{ pointer: '/a' }, { pointer: '/c~1d' }, { pointer: '/e' }],
    });
  });

  it('gives back to the upstream exactly what was passed in', () => {
    const { origin, fill } = compileRequest({ url, query: { q: '{q}', fixed: 'x&y' } }, undefined, []);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (q) => {
        const { searchParams } = new URL(origin + fill({ q }).path);
        expect([...searchParams]).toEqual([
          ['q', q],
          ['fixed', 'x&y'],
        ]);
      }),
    );
  });
});

describe('the headers of a request', () => {
  const url = 'https://api.example.com/';

  it('are those of the connection and of the tool; an absent argument takes its header along', () => {
    const request: RequestOptions = {
      path: '/',
      headers: { 'X-Trace': 't-{id}', 'X-Left-Out': '{none}', Accept: 'text/csv' },
    };
    expect(fill(request, { id: 1 }, BASE).headers).toEqual({
      'user-agent': 'unified-tool-executor',
      accept: 'text/csv',
      authorization: 'Bearer secret',
      'x-trace': 't-1',
    });
  });

  it.each(['a\r\nx: y', 'a\nb', 'ü', '\u0000'])('refuse %j', (id) => {
    expect(violationsOf({ url, headers: { 'X-Id': '{id}' } }, { id })).toMatchObject({
      violations: [{ pointer: '/id', message: 'must be printable ASCII on one line in a header' }],
    });
  });

  it('of the connection cannot be replaced by the tool', () => {
    expect(() => compileRequest({ path: '/', headers: { AUTHORIZATION: 'x' } }, BASE, [])).toThrow(
      'headers.AUTHORIZATION: the connection sets this header already.',
    );
  });
});

describe('the body of a request', () => {
  const url = 'https://api.example.com/';
  const bodyOf = (body: RequestOptions['body'], args: JsonObject): unknown => {
    const text = fill({ url, method: 'POST', body }, args).body;
    return typeof text === 'string' ? JSON.parse(text) : text;
  };

  it('keeps the types of arguments and drops the keys of those left out', () => {
    const body = {
      user: { id: '{id}', tags: '{tags}', nick: '{nick}' },
      text: 'Hi {id}',
      n: 1,
      raw: '{{x}}',
      l: ['{nick}', '{id}'],
    };
    expect(bodyOf(body, { id: 7, tags: [{ a: 1 }] })).toEqual({
      user: { id: 7, tags: [{ a: 1 }] },
      text: 'Hi 7',
      n: 1,
      raw: '{x}',
      l: [7],
    });
  });

  it('keeps null where null was passed', () => {
    expect(bodyOf({ a: '{a}' }, { a: null })).toEqual({ a: null });
  });

  it('takes the remaining arguments when it says so', () => {
    const request: RequestOptions = { url: 'https://api.example.com/{a}', method: 'PUT', body: 'remaining' };
    expect(fill(request, { a: 1, b: { c: 2 } })).toMatchObject({ path: '/1', body: '{"b":{"c":2}}' });
  });

  it('is not sent when it is one argument and that was left out', () => {
    expect(bodyOf('{payload}', {})).toBeUndefined();
  });

  it('is announced as JSON', () => {
    expect(fill({ url, method: 'POST', body: { a: 1 } }, {}).headers).toMatchObject({
      'content-type': 'application/json',
    });
  });
});

describe('a parameter that stands nowhere in the request', () => {
  it('is refused at load, unless the remaining arguments have a place', () => {
    const request: RequestOptions = { url: 'https://api.example.com/{a}' };
    expect(() => compileRequest(request, undefined, ['a', 'b'])).toThrow(/^The parameters b stand nowhere/);
    expect(() => compileRequest({ ...request, query: 'remaining' }, undefined, ['a', 'b'])).not.toThrow();
  });
});
