// Which place a URL is of: one that every server it may meet reads it as, or none.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathOf, placeOf, readLoosely } from './place-of-url.ts';

const placeAt = (href: string) => {
  const url = new URL(href);
  return {
    href,
    base: { url, headers: {}, query: [] } as never,
    strictPath: pathOf(url),
    loosePath: readLoosely(url.pathname),
  };
};
/** The longest first, as they are handed in. */
const placesOf = (...paths: string[]) => paths.map((path) => placeAt(`http://shop.test${path}`));
const PLACES = placesOf('/v1/admin', '/v1', '/other');

const found = (path: string, places = PLACES) => {
  const place = placeOf(new URL(`http://shop.test${path}`), places);
  return typeof place === 'object' ? place.strictPath : place;
};

describe('a URL', () => {
  it.each([
    ['/v1', '/v1'],
    ['/v1/', '/v1'],
    ['/v1/orders;a=b/caf%C3%A9', '/v1'],
    ['/v1/admin', '/v1/admin'],
    ['/v1/admin/x', '/v1/admin'],
    ['/v1/administrators', '/v1'],
    ['/v1/100%25', '/v1'],
    ['/v10', undefined],
    ['/', undefined],
  ])('%s is of %s', (path, place) => {
    expect(found(path)).toBe(place);
  });

  it.each([
    'http://shop.test:8080/v1',
    'https://shop.test/v1',
    'http://shop.test.evil.test/v1',
    'http://xshop.test/v1',
  ])('of another origin is of none: %s', (href) => {
    expect(placeOf(new URL(href), PLACES)).toBeUndefined();
  });

  it.each([
    '/v1/%61dmin/..%2forders',
    '/v1/Admin/..%2forders',
    '/v1/admin;x/..;/orders',
    '/v1//admin/%252e%252e/orders',
    '/v1/x/..%5corders',
    '/v1/x/..;/y',
  ])('that climbs where the gateway does not see it is of no clear place: %s', (path) => {
    expect(found(path)).toBe('unclear');
  });
});

/** How servers read a path, each step by itself. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replaceAll(/;[^/]*/g, ''),
  (path) => path.replaceAll(/\/{2,}/g, '/'),
  (path) => path.replaceAll(/\/\.(?=\/|$)/g, ''),
  (path) => path.toLowerCase(),
  (path) => new URL(`http://x${path.startsWith('/') ? path : `/${path}`}`).pathname,
];

it('that has a place is of this place in whatever order a server reads its path', () => {
  const piece = fc.constantFrom(
    'Admin',
    'admin',
    '%61dmin',
    '%2561dmin',
    'admin;x=1',
    ';',
    '',
    '.',
    'x',
    '..;',
    '%2e%2e',
    '%252e%252e',
    '..%2f',
    '%2f',
    '%5c',
    '%252f',
    '%3b',
    '%25',
  );
  const path = fc
    .tuple(fc.constantFrom('/v1', '/v1/admin', '/other', '/V1', ''), fc.array(piece, { maxLength: 4 }))
    .map(([start, pieces]) => [start, ...pieces].join('/') || '/');
  const reading = fc.array(fc.constantFrom(...STEPS), { maxLength: 5 });
  const seen = new Set<unknown>();
  fc.assert(
    fc.property(path, reading, (written, steps) => {
      const url = URL.parse(`http://shop.test${written}`);
      if (url === null) return;
      const place = found(url.pathname);
      seen.add(place);
      if (place === undefined || place === 'unclear') return;
      const read = steps.reduce((text, step) => step(text), url.pathname);
      const reached = PLACES.find(
        ({ strictPath }) => read === strictPath || read.startsWith(`${strictPath}/`),
      );
      expect([written, read, reached?.strictPath]).toEqual([written, read, place]);
    }),
    { numRuns: 3_000 },
  );
  expect(seen).toEqual(new Set([undefined, 'unclear', '/v1', '/v1/admin', '/other']));
});
