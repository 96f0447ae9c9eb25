// Property names: a spelling that every provider takes, and the way back from it, for exactly those that the schema declares.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownNamesOf, propertySpellings } from './property-names.ts';

const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const object = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

describe('propertySpellings', () => {
  it('leaves names alone that every provider takes', () => {
    expect(propertySpellings(object('city', 'zip_code', '_x')).size).toBe(0);
  });

  it('writes the others so that they can still be read, and with a hash where they cannot', () => {
    const spellings = propertySpellings(object('X-Request-Id', 'filter[name]', '2fa', '名前', 'a-b', 'a_b'));
    expect(spellings.get('X-Request-Id')).toBe('X_Request_Id');
    expect(spellings.get('filter[name]')).toBe('filter_name_');
    expect(spellings.get('2fa')).toBe('_2fa');
    expect(spellings.get('名前')).toMatch(/^___[0-9a-f]{8}$/);
    expect(spellings.get('a-b')).toMatch(/^a_b_[0-9a-f]{8}$/);
    expect(spellings.has('a_b')).toBe(false);
  });

  it('gives every refused name of any schema an accepted spelling of its own', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 70 }), { maxLength: 20 }),
        (names) => {
          const spellings = propertySpellings(object(...names.filter((name) => name !== '__proto__')));
          for (const spelling of spellings.values()) expect(spelling).toMatch(ACCEPTED);
          const all = names.filter((name) => name !== '__proto__').map((name) => spellings.get(name) ?? name);
          expect(new Set(all).size).toBe(all.length);
        },
      ),
    );
  });
});

describe('ownNamesOf', () => {
  it('is nothing at all for a schema whose names are taken everywhere', () => {
    expect(ownNamesOf(object('a', 'b'))).toBeUndefined();
  });

  it('gives back the declared names, and leaves the caller’s object as it was', () => {
    const own = ownNamesOf(object('a-b', 'c'));
    const said = { a_b: 'x', c: 'y' };
    expect(own?.(said).args).toEqual({ 'a-b': 'x', c: 'y' });
    expect(said).toEqual({ a_b: 'x', c: 'y' });
    const known = { 'a-b': 'x', c: 'y' };
    expect(own?.(known).args).toBe(known);
  });

  it('takes a spelling for a name of the caller’s own where the schema declares none of that place', () => {
    const own = ownNamesOf({
      ...object('a-b'),
      properties: { 'a-b': {}, labels: { type: 'object', additionalProperties: { type: 'string' } } },
    });
    expect(own?.({ a_b: 1, labels: { a_b: 'mine' } }).args).toEqual({ 'a-b': 1, labels: { a_b: 'mine' } });
  });

  it('leaves both where somebody says the same thing under both names', () => {
    expect(ownNamesOf(object('a-b'))?.({ 'a-b': '1', a_b: '2' }).args).toEqual({ 'a-b': '1', a_b: '2' });
  });

  it('finds names behind references, in lists, in alternatives and in circles', () => {
    const own = ownNamesOf({
      type: 'object',
      properties: { tree: { $ref: '#/$defs/Node' } },
      $defs: {
        Node: {
          anyOf: [
            { ...object('x-label'), required: ['x-label'] },
            { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/Node' } } } },
          ],
        },
      },
    });
    const said = { tree: { kids: [{ x_label: 'a' }, { kids: [{ x_label: 'b' }] }] } };
    expect(own?.(said).args).toEqual({
      tree: { kids: [{ 'x-label': 'a' }, { kids: [{ 'x-label': 'b' }] }] },
    });
  });

  it('says of a place where it is under the declared names', () => {
    const own = ownNamesOf({
      type: 'object',
      properties: { 'a/b': { type: 'array', items: object('c-d') }, e: {} },
    });
    const named = own?.({ a_b: [{ c_d: 1 }], e: { c_d: 2 } });
    expect(named?.pointer('/a_b/0/c_d')).toBe('/a~1b/0/c-d');
    expect(named?.pointer('/e/c_d')).toBe('/e/c_d');
    expect(named?.pointer('')).toBe('');
  });
});
