// Stand-in nulls: null for what is left out goes, null that means something stays, whichever alternative it is in.
import { describe, expect, it } from 'vitest';
import { dropStandInNulls } from './stand-in-nulls.ts';

const text = { type: 'string' };
const kind = (name: string, properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties: { kind: { const: name }, ...properties },
  required: ['kind', ...required],
});
const either = (...alternatives: object[]) => ({
  type: 'object',
  properties: { it: { anyOf: alternatives } },
});

describe('dropStandInNulls', () => {
  it('drops null for an optional property, and keeps it for one that may be null or is required', () => {
    const schema = {
      type: 'object',
      properties: {
        a: text,
        b: { type: ['string', 'null'] },
        c: text,
        d: { type: 'string', nullable: true },
      },
      required: ['c'],
    };
    const args = { a: null, b: null, c: null, d: null, undeclared: null };
    expect(dropStandInNulls(args, schema)).toEqual({ b: null, c: null, d: null, undeclared: null });
  });

  it('gives the same object back where there is nothing to drop', () => {
    const args = { a: 'x', list: [{ a: 'y' }] };
    expect(dropStandInNulls(args, { type: 'object', properties: { a: text } })).toBe(args);
  });

  it('asks the alternative that the value was written for, not the one beside it', () => {
    const optional = kind('a', { x: text });
    const required = kind('b', { x: text }, ['x']);
    const nullable = kind('c', { x: { type: ['string', 'null'] } }, ['x']);
    const schema = either(required, optional, nullable);
    expect(dropStandInNulls({ it: { kind: 'a', x: null } }, schema)).toEqual({ it: { kind: 'a' } });
    expect(dropStandInNulls({ it: { kind: 'c', x: null } }, schema)).toEqual({ it: { kind: 'c', x: null } });
  });

  it('tells alternatives apart by their members where no constant does', () => {
    const schema = either(
      { type: 'object', properties: { wait: { type: 'integer' }, why: text }, required: ['wait'] },
      { type: 'object', properties: { call: text, why: { type: ['string', 'null'] } }, required: ['call'] },
    );
    expect(dropStandInNulls({ it: { wait: 1, why: null } }, schema)).toEqual({ it: { wait: 1 } });
    expect(dropStandInNulls({ it: { call: 'x', why: null } }, schema)).toEqual({
      it: { call: 'x', why: null },
    });
  });

  it('goes into lists, tuples of both drafts, and references that lead back', () => {
    const schema = {
      type: 'object',
      properties: {
        list: { type: 'array', items: { $ref: '#/$defs/Node' } },
        pair: { type: 'array', prefixItems: [{ $ref: '#/$defs/Node' }] },
        old: { type: 'array', items: [{ $ref: '#/$defs/Node' }] },
      },
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
    };
    const node = { next: { next: null } };
    const without = { next: {} };
    expect(dropStandInNulls({ list: [node], pair: [node], old: [node] }, schema)).toEqual({
      list: [without],
      pair: [without],
      old: [without],
    });
  });

  it('ends with alternatives that are nothing but each other', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }] } },
    };
    const args = { a: { b: null } };
    expect(dropStandInNulls(args, schema)).toBe(args);
  });

  it('takes time that grows with the value, not with the ways through alternatives', () => {
    const schema = {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/Node' } },
      $defs: {
        Node: {
          anyOf: [
            kind('a', { l: { $ref: '#/$defs/Node' }, r: { $ref: '#/$defs/Node' } }, ['l', 'r']),
            kind('b', { l: { $ref: '#/$defs/Node' }, r: { $ref: '#/$defs/Node' } }),
            kind('c', { n: text }),
          ],
        },
      },
    };
    const tree = (depth: number): object =>
      depth === 0 ? { kind: 'c', n: null } : { kind: 'b', l: tree(depth - 1), r: tree(depth - 1) };
    const cleaned = (depth: number): object =>
      depth === 0 ? { kind: 'c' } : { kind: 'b', l: cleaned(depth - 1), r: cleaned(depth - 1) };
    expect(dropStandInNulls({ tree: tree(7) }, schema)).toEqual({ tree: cleaned(7) });
  });
});
