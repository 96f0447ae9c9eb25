// The fast way and the whole way of reading a file agree; what a file may be, and how it is refused.
import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { parseWhole, type WholeSource } from '../../lib/tools-yaml/parse-whole.ts';
import { parseSource, type ParsedSource, type PieceCache } from './parse-source.ts';
import { splitTools } from './split-tools.ts';

const limits = {
  yieldIfDue: () => Promise.resolve(),
  clock: new FakeClock(),
  signal: new AbortController().signal,
};
const sourceOf = (text: string) => ({ file: '/etc/tools.yaml', baseDir: '/etc', text });
const parse = (text: string, cache: PieceCache = new Map()) => parseSource(sourceOf(text), cache, limits);

/** Every path inside a value, with the value itself first. */
function pathsOf(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

/** As text: thousands of places are compared, each run. */
function describeAll({ tools, connections, problems }: ParsedSource | WholeSource): string {
  if (problems.length > 0) return 'refused';
  const all = [...tools, ...connections].map((each) => ({
    value: each.value,
    places: pathsOf(each.value).map((path) => ({
      path,
      at: each.locate(path),
      key: each.locate(path, 'key'),
    })),
  }));
  return JSON.stringify(all, undefined, 1);
}

const scalar = fc.constantFrom(
  'plain text',
  'plain # no comment? yes',
  '"- quoted: x"',
  "'it''s # fine'",
  '""',
  '12.5',
  'null',
  '~',
  '{ a: 1, b: [x, "- y"] }',
  '[]',
  'a & b',
);

/** Lines of one field, indented relative to the item's keys; the odd ones break YAML, as operators do. */
const field = (indent: string) =>
  fc.oneof(
    scalar.map((text) => [`: ${text}`]),
    fc.constantFrom('|', '>', '|-', '|+', '>2').map((mark) => {
      return [
        `: ${mark}`,
        `${indent}  - not an item`,
        '',
        `${indent}  # not a comment`,
        `${indent}    deeper: "`,
      ];
    }),
    fc.constant([': "two', `${indent}  - lines"`]),
    fc.constant([': two', `${indent}  plain lines`]),
    fc.constant([':', `${indent}  - nested`, `${indent}  -`, `${indent}    - twice`]),
    fc.constant([':', `${indent}- at the key's own column`, `${indent}- again`]),
    fc.constant([':', `${indent}  inner: { flow: [1,`, `${indent}    2] }`]),
    fc.constant([': # comment', `${indent}  inner: x # comment`]),
  );

const item = (dash: string) => {
  const indent = `${dash}  `;
  const key = fc.constantFrom('a', 'b', 'c', '"q q"', 'd e');
  return fc
    .uniqueArray(fc.tuple(key, field(indent)), { selector: ([name]) => name, minLength: 1, maxLength: 4 })
    .map((fields) =>
      fields.flatMap(([name, [first = '', ...rest]], index) => [
        `${index === 0 ? `${dash}- ` : indent}${name}${first}`,
        ...rest,
      ]),
    );
};

const between = (dash: string) =>
  fc.array(fc.constantFrom('', '   ', '# at the margin', `${dash}# at the dash`, `${dash}   # deeper`), {
    maxLength: 2,
  });

const connections = fc.constantFrom(
  [],
  [
    'connections:',
    '  db: { type: x }',
    '  # tools:',
    '  web:',
    '    type: y',
    '    text: |',
    '      tools:',
    '      - z',
  ],
  ['connections: {}'],
);

const documentText = fc
  .tuple(fc.constantFrom('', '  ', '    '), connections, fc.boolean(), fc.boolean(), fc.boolean())
  .chain(([dash, others, first, crlf, atEnd]) =>
    fc.array(fc.tuple(between(dash), item(dash)), { maxLength: 4 }).map((items) => {
      const body = items.flatMap(([gap, lines]) => [...gap, ...lines]);
      const list = ['tools: # the list', ...body];
      const lines = first ? [...others, ...list] : [...list, ...others];
      return lines.join(crlf ? '\r\n' : '\n') + (atEnd ? '' : '\n');
    }),
  );

const mutation = fc.array(
  fc.record({
    at: fc.nat(400),
    remove: fc.nat(3),
    insert: fc.constantFrom(
      '',
      '"',
      "'",
      '- ',
      '\n',
      '\n- ',
      '\n  - x',
      ':',
      ' ',
      '[',
      '}',
      '#',
      '|',
      '&a ',
      '*a',
      '!t ',
      '\t',
      '---\n',
      '%',
      '<<: ',
    ),
  }),
  { maxLength: 3 },
);

describe('a file read in pieces and the same file read as a whole', () => {
  async function agree(text: string): Promise<void> {
    const fast = await parse(text);
    expect(describeAll(fast)).toBe(describeAll(parseWhole(sourceOf(text))));
  }

  it('agree on values and positions', async () => {
    await fc.assert(fc.asyncProperty(documentText, agree), { numRuns: 60 });
  });

  it('agree on broken and unusual files', async () => {
    const broken = fc
      .tuple(documentText, mutation)
      .map(([text, changes]) =>
        changes.reduce(
          (now, { at, remove, insert }) => now.slice(0, at) + insert + now.slice(at + remove),
          text,
        ),
      );
    await fc.assert(fc.asyncProperty(broken, agree), { numRuns: 150 });
  });
});

describe('a file of ordinary shape', () => {
  const text = 'tools:\n  - name: a\n    text: |\n      - x\n\n  # about b\n  - name: b\n';

  it('is read in pieces', async () => {
    const { tools } = await parse(text);
    expect(tools.map(({ contentHash }) => contentHash)).toEqual(
      splitTools(text)?.pieces.map((piece) => hash('sha256', piece.text)),
    );
  });

  it('is parsed again only where it changed', async () => {
    const cache: PieceCache = new Map();
    const before = await parse(text, cache);
    const after = await parse(text.replace('name: b', 'name: c'), cache);
    expect(after.tools[0]?.value).toBe(before.tools[0]?.value);
    expect(after.tools[1]?.value).toEqual({ name: 'c' });
    expect(cache.size).toBe(2);
  });

  it('keeps a tool unchanged when only what stands around it changed', async () => {
    const before = await parse(text);
    const after = await parse(`# new\n${text.replace('about b', 'still about b')}`);
    expect(after.tools.map(({ contentHash }) => contentHash)).toEqual(
      before.tools.map(({ contentHash }) => contentHash),
    );
    expect(after.tools[1]?.locate(['name'])).toEqual({ file: '/etc/tools.yaml', line: 8, column: 11 });
  });

  it('tells all syntax errors of all tools, each at its own line', async () => {
    const { problems } = await parse('tools:\n  - name: a: b\n  - name: ok\n  - name: c\n    name: d\n');
    expect(problems.map(({ line, column }) => [line, column])).toEqual([
      [2, 11],
      [5, 5],
    ]);
    expect(problems[1]?.message).toContain('this key stands there already');
  });

  it('lets other work happen while it is read', async () => {
    let yields = 0;
    const many = `tools:\n${Array.from({ length: 50 }, (_, index) => `  - name: t${index}\n`).join('')}`;
    const yieldIfDue = async () => void (yields += 1);
    await parseSource(sourceOf(many), new Map(), { ...limits, yieldIfDue });
    expect(yields).toBe(50);
  });
});

describe('what a file may be', () => {
  it.each(['tools: []\n', 'tools: []\nconnections:\n', 'tools: [] # none yet\n'])(
    '%j says that there are no tools',
    async (text) => {
      const { tools, connections: none, problems } = await parse(text);
      expect([tools, none, problems]).toEqual([[], [], []]);
    },
  );

  it('connections may have a file of their own', async () => {
    const { connections, problems } = await parse('connections:\n  db: { type: x }\n');
    expect(problems).toEqual([]);
    expect(connections.map(({ name }) => name)).toEqual(['db']);
  });

  it('flow style and JSON are read too', async () => {
    expect((await parse('{"tools": [{"name": "a"}]}')).tools.map(({ value }) => value)).toEqual([
      { name: 'a' },
    ]);
  });

  it('anchors, aliases and merge keys are understood across tools', async () => {
    const { tools, problems } = await parse(
      'tools:\n  - &base { name: a, timeout_ms: 5 }\n  - { <<: *base, name: b }\n',
    );
    expect(problems).toEqual([]);
    expect(tools.map(({ value }) => value)).toEqual([
      { name: 'a', timeout_ms: 5 },
      { name: 'b', timeout_ms: 5 },
    ]);
  });
});

describe('a file that was emptied, or is not written to its end, is no set of no tools', () => {
  it.each([
    ['', 1, 1],
    ['\n\n', 1, 1],
    ['# nothing yet\n', 1, 1],
    ['---\n', 1, 4],
    ['{}\n', 1, 1],
    ['connections:\n', 1, 1],
    ['connections: {}\n', 1, 1],
    ['tools:\n', 1, 1],
    ['# ours\ntools: ~\n', 2, 1],
    ['connections: { db: { type: x } }\ntools:\n', 2, 1],
  ])('%j', async (text, line, column) => {
    const { problems } = await parse(text);
    expect(problems).toEqual([
      expect.objectContaining({
        file: '/etc/tools.yaml',
        line,
        column,
        message: expect.stringContaining('"tools: []" says that none are meant'),
      }),
    ]);
  });

  it.each(['t', 'tools', '\0\0\0\0', 'tools:\n  -', 'tools:\n  - name: a\n    descr'])('%j', async (text) => {
    const { tools, problems } = await parse(text);
    expect(problems.length + tools.filter(({ value }) => value === null).length).toBe(1);
  });
});

describe('one mistake is told once', () => {
  const tool = (name: string) =>
    `  - name: ${name}\n    description: Add\n    tool_type: python\n    implementation_config:\n` +
    '      module: math\n      function_name: add\n    metadata:\n      read_only: true\n';
  const good = `tools:\n${tool('add')}${tool('sub')}`;
  const tab = 'a tab indents this line; indent with spaces';
  const deeper = 'wrong indentation: this line is deeper than the one before it, which has its value already';
  const nowhere = 'wrong indentation: this line begins in no column of those before it';
  const lines = good.split('\n');
  const changed = (line: number, indent: string) =>
    lines.with(line - 1, indent + (lines[line - 1] ?? '').trimStart()).join('\n');

  it.each([
    ['a tab before a key', changed(3, '\t'), 3, 1, tab],
    ['a tab after spaces', changed(6, '    \t'), 6, 5, tab],
    ['a tab before an item', changed(10, '\t'), 10, 1, tab],
    ['tabs everywhere', good.replaceAll('  ', '\t'), 2, 1, tab],
    ['a key too far to the left', changed(3, '   '), 3, 4, nowhere],
    ['a key at the left edge', changed(4, ''), 5, 5, deeper],
    ['a key too far to the right', changed(3, '     '), 3, 6, deeper],
    ['a nested key too far to the right', changed(7, '        '), 7, 9, deeper],
    ['a nested key too far to the left', changed(7, '     '), 7, 6, nowhere],
    ['an item too far to the right', changed(10, '   '), 10, 4, nowhere],
    ['an item too far to the left', changed(10, ' '), 10, 2, nowhere],
    ['an item at the left edge', changed(10, ''), 10, 1, nowhere],
    [
      'no colon',
      good.replace('description: Add', 'description Add'),
      3,
      5,
      'expected a key, ": " and its value',
    ],
    [
      'no space',
      good.replace('description: Add', 'description:Add'),
      3,
      5,
      'expected a key, ": " and its value',
    ],
    [
      'a colon in a value',
      good.replace('Add', 'Add: two'),
      3,
      18,
      'a value that holds ": " must stand in quotes',
    ],
  ])('%s', async (_mistake, text, line, column, message) => {
    const { problems } = await parse(text);
    expect(problems).toEqual([
      { file: '/etc/tools.yaml', line, column, message: `not valid YAML: ${message}` },
    ]);
  });

  it('what does not follow from another is told as well', async () => {
    const { problems } = await parse('tools: []\ntools: []\nconnections:\nconnections:\n');
    expect(problems.map(({ line }) => line)).toEqual([2, 4]);
  });
});

describe('what a file may not be is said with its place', () => {
  it.each([
    ['toolz: []\n', 1, 1, 'did you mean "tools"'],
    ['tools: { a: 1 }\n', 1, 8, 'expected a list of tools'],
    ['tools: []\ntools: []\n', 2, 1, 'this key stands there already'],
    ['connections: [a]\n', 1, 14, 'expected a map of connections'],
    ['- a\n', 1, 1, 'expected a map with the keys'],
    ['tools: []\n---\ntools: []\n', 2, 1, 'a second document begins here'],
    ['tools:\n  - !secret x\n', 2, 5, 'the tag !secret has no meaning here'],
    ['tools:\n  - *nothing\n', 2, 5, 'no anchor "&nothing" before the alias'],
    ['tools:\n  - &a [*a]\n', 2, 8, 'an alias stands within what its own anchor names'],
    ['tools: *nothing\n', 1, 8, 'no anchor "&nothing" before the alias'],
    ['tools: []\nconnections: *nothing\n', 2, 14, 'no anchor "&nothing" before the alias'],
    ['tools:\n  - ? [x]\n    : 1\n', 2, 7, 'a key must be text'],
  ])('%j', async (text, line, column, message) => {
    const { problems } = await parse(text);
    expect(problems[0]).toMatchObject({ file: '/etc/tools.yaml', line, column });
    expect(problems[0]?.message).toContain(message);
  });

  it('an alias bomb is refused without being expanded', async () => {
    const levels = Array.from({ length: 12 }, (_, level) =>
      level === 0
        ? 'l0: &l0 [x, x, x, x, x, x, x, x, x]'
        : `l${level}: &l${level} [${Array(9)
            .fill(`*l${level - 1}`)
            .join(', ')}]`,
    );
    const { problems } = await parse(`tools:\n  - ${levels.join('\n    ')}\n`);
    expect(problems[0]?.message).toContain('its aliases repeat too much');
  });
});

describe('a text that takes long', () => {
  const keys = (count: number, indent: string) =>
    Array.from({ length: count }, (_, at) => `${indent}key${at}: ${at}`).join('\n');
  const tool = `tools:\n  - name: small\n  - name: large\n    more:\n${keys(4_000, '      ')}\n`;

  it('is read in a thread, and says what the text says', async () => {
    const { tools, problems } = await parse(tool);
    expect(problems).toEqual([]);
    expect(tools).toHaveLength(2);
    expect(tools[1]?.value).toMatchObject({ name: 'large', more: { key0: 0, key3999: 3_999 } });
    const withAnchors = tool.replace('- name: small', '- &a { name: small }\n  - *a');
    const whole = await parse(withAnchors);
    expect(whole.tools.map(({ value }) => (value as { name: string }).name)).toEqual([
      'small',
      'small',
      'large',
    ]);
    expect(whole.tools[2]?.locate([])).toEqual({ file: '/etc/tools.yaml', line: 4, column: 5 });
  });

  it('keeps the line and column of what is wrong in it', async () => {
    const { problems } = await parse(`${tool}      key7: again\n`);
    expect(problems).toMatchObject([
      {
        file: '/etc/tools.yaml',
        line: 4_005,
        column: 7,
        message: 'not valid YAML: this key stands there already; each may stand once',
      },
    ]);
    const many = await parse(`connections:\n${keys(4_000, '  ')}\n  key5: 1\ntools: []\n`);
    expect(many.problems[0]).toMatchObject({ line: 4_002, column: 3 });
  });

  it('is refused where aliases make more of it than a declaration may be', async () => {
    const text = `tools:\n  - name: bomb\n    a: &a ${'x'.repeat(20_000)}\n    b: [${'*a, '.repeat(90)}]\n`;
    expect((await parse(text)).problems).toMatchObject([
      { line: 2, message: expect.stringContaining('larger than 1024 KiB') },
    ]);
  });
});
