// Templates: what is written is what is read, and everything else is refused with the column.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplate, soleName, TemplateError, type Template } from './template.ts';

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const literal = fc.string({
  unit: fc.constantFrom('{', '}', 'a', '/', ' ', 'é', '$'),
  minLength: 1,
  maxLength: 8,
});
const part = fc.oneof(
  name.map((name) => ({ name })),
  literal,
);
/** As parseTemplate gives them: never two literals in a row. */
const parts = fc
  .array(part, { maxLength: 8 })
  .map((all) => all.filter((one, at) => typeof one === 'object' || typeof all[at - 1] !== 'string'));

/** Written so that parseTemplate reads it back as one literal. */
const escaped = (text: string) => text.replaceAll('{', '{{').replaceAll('}', '}}');

function write(parts: Template['parts']): string {
  return parts.map((part) => (typeof part === 'string' ? escaped(part) : `{${part.name}}`)).join('');
}

function columnOf(text: string): number {
  try {
    parseTemplate(text);
  } catch (error) {
    if (error instanceof TemplateError) return error.column;
  }
  return 0;
}

describe('parseTemplate', () => {
  it('splits text and placeholders', () => {
    expect(parseTemplate('/v1/users/{id}/notes/{note_id}')).toEqual({
      parts: ['/v1/users/', { name: 'id' }, '/notes/', { name: 'note_id' }],
      names: ['id', 'note_id'],
    });
  });

  it('lists a name once however often it stands there', () => {
    expect(parseTemplate('{a}{b}{a}').names).toEqual(['a', 'b']);
  });

  it('reads doubled braces as literal braces', () => {
    expect(parseTemplate('{{a}} {{{b}}}').parts).toEqual(['{a} {', { name: 'b' }, '}']);
  });

  it('gives no parts for the empty text', () => {
    expect(parseTemplate('')).toEqual({ parts: [], names: [] });
  });

  it.each([
    ['{', 1],
    ['ab{c', 3],
    ['ab}', 3],
    ['{}', 1],
    ['x{ a }', 2],
    ['{1a}', 1],
    ['{a-b}', 1],
    ['{a.b}', 1],
    ['{a{b}}', 1],
  ])('refuses %s and says where', (text, column) => {
    expect(columnOf(text)).toBe(column);
  });

  it('reads back whatever parts were written', () => {
    fc.assert(
      fc.property(parts, (parts) => {
        expect(parseTemplate(write(parts)).parts).toEqual(parts);
      }),
    );
  });

  it('either reads a text or refuses it with a column inside it', () => {
    const text = fc.string({ unit: fc.constantFrom('{', '}', 'a', '1', '-', ' '), maxLength: 12 });
    fc.assert(
      fc.property(text, (text) => {
        const column = columnOf(text);
        expect(column === 0 ? write(parseTemplate(text).parts) === text : column <= text.length).toBe(true);
      }),
    );
  });
});

describe('soleName', () => {
  it('is the name only when the template is one placeholder and nothing else', () => {
    expect(['{id}', 'x{id}', '{a}{b}', 'id', ''].map((text) => soleName(parseTemplate(text)))).toEqual([
      'id',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
