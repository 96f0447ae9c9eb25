// The http options: what an operator may not write is refused at load, at its place.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { httpConnectionSchema } from './connection-schema.ts';
import { httpOptionsSchema } from './options-schema.ts';
import { slotsOfOptions } from './request/request-slots.ts';

function problems(options: unknown): string[] {
  const parsed = httpOptionsSchema.safeParse(options);
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'));
}

describe('http options', () => {
  it.each([
    [{ url: 'https://api.example.com/v1/{id}' }, []],
    [{ connection: 'crm', path: '/v1/{id}' }, []],
    [
      {
        connection: 'crm',
        actions: { list: { path: '/l' }, add: { method: 'POST', path: '/a', body: 'remaining' } },
      },
      [],
    ],
    [{}, ['url']],
    [{ path: '/x' }, ['url']],
    [{ connection: 'crm' }, ['url']],
    [{ connection: 'crm', path: '/x', url: 'https://a.example/' }, ['url']],
    [{ url: 'https://{host}/x' }, ['url']],
    [{ url: 'https://user@a.example/x' }, ['url']],
    [{ url: 'ftp://a.example/x' }, ['url']],
    [{ url: 'https://a.example/x?q={q}' }, ['url']],
    [{ url: 'https://a.example/{x' }, ['url']],
    [{ connection: 'crm', path: 'x' }, ['path']],
    [{ url: 'https://a.example/', body: {} }, ['body']],
    [{ url: 'https://a.example/', method: 'POST', body: { a: ['{'] } }, ['body.a.0']],
    [{ url: 'https://a.example/', method: 'POST', query: 'remaining', body: 'remaining' }, ['body']],
    [{ url: 'https://a.example/', headers: { Host: 'x' } }, ['headers.Host']],
    [{ url: 'https://a.example/', headers: { 'X-Forwarded-For': '{ip}' } }, ['headers.X-Forwarded-For']],
    [{ url: 'https://a.example/', headers: { Authorization: 'Bearer x' } }, ['headers.Authorization']],
    [{ url: 'https://a.example/', headers: { a: 'x', A: 'y' } }, ['headers.A']],
    [{ url: 'https://a.example/', headers: { a: 'x\ny' } }, ['headers.a']],
    [{ connection: 'crm', path: '/x', actions: { list: { path: '/l' } } }, ['path']],
    [{ connection: 'crm', actions: { list: {} } }, ['actions.list.url']],
    [
      {
        url: 'https://a.example/',
        method: 'POST',
        body: '{f}',
        body_as: 'file',
        file_urls: { allow_private: ['10.0.0.0/8'] },
      },
      ['file_urls'],
    ],
  ])('%j has problems at %j', (options, expected) => {
    expect(problems(options)).toEqual(expected);
  });

  it('can be written as JSON Schema for editors', () => {
    expect(z.toJSONSchema(httpOptionsSchema)).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it('list their placeholders with the path of each', () => {
    const options = httpOptionsSchema.parse({
      connection: 'crm',
      actions: {
        add: {
          method: 'POST',
          path: '/{a}',
          query: { q: { from: 'b' } },
          headers: { x: '{c}' },
          body: { d: ['{e}'] },
        },
      },
    });
    expect(slotsOfOptions(options).map(({ name, path }) => `${name} ${path.join('.')}`)).toEqual([
      'a actions.add.path',
      'b actions.add.query.q.from',
      'c actions.add.headers.x',
      'e actions.add.body.d.0',
    ]);
  });
});

describe('an http connection', () => {
  const accepted = (settings: object) =>
    httpConnectionSchema.safeParse({ type: 'http', ...settings }).success;

  it('may carry secrets in headers', () => {
    expect(
      accepted({ base_url: 'https://api.example.com/v1', headers: { Authorization: 'x', Cookie: 'y' } }),
    ).toBe(true);
  });

  it.each(['x', 'ftp://a.example', 'https://u:p@a.example', 'https://a.example/?q', 'https://a.example/#f'])(
    'is refused with the base_url %s',
    (url) => {
      expect(accepted({ base_url: url })).toBe(false);
    },
  );

  it('cannot set the headers of the transport', () => {
    expect(accepted({ base_url: 'https://a.example', headers: { 'transfer-encoding': 'chunked' } })).toBe(
      false,
    );
    expect(accepted({ base_url: 'https://a.example', headers: { 'Proxy-Authorization': 'x' } })).toBe(false);
  });
});
