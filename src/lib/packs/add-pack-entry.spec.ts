// A pack's entry in gateway.yaml: added behind what is there, which stays as it was written.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { addPackEntry } from './add-pack-entry.ts';

const system = { name: 'system', without: [] };

function textWith(text: string | undefined, entry: Parameters<typeof addPackEntry>[1] = system): string {
  const added = addPackEntry(text, entry);
  if (typeof added === 'string' || 'message' in added) throw new Error(JSON.stringify(added));
  return added.text;
}

describe('addPackEntry', () => {
  it('keeps every line that was there', () => {
    const text =
      '# Ours.\nhttp: { port: 8081 } # behind the proxy\nloaders:\n  - type: yaml-file # watched\n    paths: [a.yaml]\n';
    expect(textWith(text)).toBe(`${text}  - { type: pack, name: system }\n`);
  });

  it('puts the entry behind the list, before what follows it', () => {
    const text = 'loaders:\n- type: yaml-file\n  paths: [a.yaml] # ours\n# The door.\nhttp:\n  port: 1';
    const added = textWith(text, { name: 'system', without: ['a'] });
    expect(added).toBe(
      text.replace('# The', '- { type: pack, name: system, overrides: { a: { off: true } } }\n# The'),
    );
  });

  it('a last line without an end gets one', () => {
    expect(textWith('loaders:\n  - { type: postgres }')).toBe(
      'loaders:\n  - { type: postgres }\n  - { type: pack, name: system }\n',
    );
  });

  it('a list in one line goes on as a list', () => {
    expect(parse(textWith('loaders: [{ type: yaml-file, paths: [a.yaml] }]\n'))).toEqual({
      loaders: [
        { type: 'yaml-file', paths: ['a.yaml'] },
        { type: 'pack', name: 'system' },
      ],
    });
  });

  it('does not take away the tools that are there by default', () => {
    expect(parse(textWith('http: { port: 1 }\n'))).toMatchObject({
      loaders: [
        { type: 'yaml-file', paths: ['tools.yaml'] },
        { type: 'pack', name: 'system' },
      ],
    });
  });

  it('makes a file that was not there, with the pack alone', () => {
    expect(parse(textWith(undefined))).toEqual({ loaders: [{ type: 'pack', name: 'system' }] });
  });

  it('switches off what is left out', () => {
    expect(parse(textWith(undefined, { name: 'system', without: ['a', 'b'] }))).toEqual({
      loaders: [{ type: 'pack', name: 'system', overrides: { a: { off: true }, b: { off: true } } }],
    });
  });

  it('says what was chosen', () => {
    const entry = { name: 'web', without: [], choose: { search: 'brave' } };
    expect(parse(textWith(undefined, entry))).toEqual({
      loaders: [{ type: 'pack', name: 'web', choose: { search: 'brave' } }],
    });
  });

  it('adds nothing twice', () => {
    expect(addPackEntry(textWith(undefined), system)).toBe('there already');
  });

  it('says what an entry that is there lacks, and leaves that as it was written', () => {
    const wanted = { name: 'web', without: ['fetch_url'], choose: { search: 'brave' } };
    const other = { ...wanted, choose: { search: 'tavily' } };
    expect(addPackEntry(textWith(undefined, wanted), wanted)).toBe('there already');
    expect(addPackEntry(textWith(undefined, other), wanted)).toEqual({
      message: 'the pack web is named already, without choose: { search: brave }: write that there',
    });
    expect(addPackEntry(textWith(undefined, { name: 'web', without: [] }), wanted)).toEqual({
      message:
        'the pack web is named already, without choose: { search: brave } and ' +
        'overrides: { fetch_url: { off: true } }: write that there',
    });
  });

  it.each(['[', 'loaders: 1\n', '- a\n', 'a: 1\na: 2\n'])(
    'takes nothing that it does not understand: %j',
    (text) => {
      expect(addPackEntry(text, system)).toMatchObject({ message: expect.any(String) as string });
    },
  );
});
