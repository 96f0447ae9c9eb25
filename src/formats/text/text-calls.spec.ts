// The calls in what a model wrote: found wherever they stand, mended only where that is safe, and never guessed at.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTextCalls } from './text-calls.ts';

const said = (text: string) => findTextCalls(text).map(({ tool, arguments: args }) => ({ tool, args }));
const reasons = (text: string) => findTextCalls(text).map(({ refusal }) => refusal?.reason);

/** What models write around a call. */
const AROUND: readonly (readonly [string, (call: string) => string])[] = [
  ['alone', (call) => call],
  ['in a fence of json', (call) => `\`\`\`json\n${call}\n\`\`\``],
  ['in a fence of nothing', (call) => `I'll look that up.\n\n\`\`\`\n${call}\n\`\`\`\n`],
  [
    'in a fence of JSON, indented',
    (call) => `1. First:\n   \`\`\`JSON\n   ${call}\n   \`\`\`\n2. Then we'll see.`,
  ],
  ['in a fence of tool_call', (call) => `~~~tool_call\n${call}\n~~~`],
  ['in a fence that has no end', (call) => `Sure!\n\`\`\`json\n${call}`],
  ['behind prose', (call) => `Let me check that for you. ${call}`],
  ['before prose', (call) => `${call}\n\nOne moment, please.`],
  ['in the middle of a sentence', (call) => `I will call ${call} now, and tell you "soon".`],
  ['between the tags of Hermes', (call) => `<tool_call>\n${call}\n</tool_call>`],
  ["behind Mistral's mark, in a list", (call) => `[TOOL_CALLS] [${call}]`],
  ["behind Llama's mark", (call) => `<|python_tag|>${call}<|eom_id|>`],
  ['behind a brace of the prose', (call) => `With the template {name} filled: ${call}`],
  ['behind a set and a lambda', (call) => `f = {x for x in y}; \\{a: b\\}\n${call}`],
  ['behind thoughts', (call) => `<think>\nMaybe {"tool": "wrong", "args": {}}?\n</think>\n\n${call}`],
  ['behind thoughts that the template began', (call) => `Or {"tool": "wrong"}…</think>${call}`],
  ['behind thoughts that come later', (call) => `Right.\n<think>\n{"tool": "wrong"}\n</think>\n${call}`],
  ['in a wrapper of calls', (call) => `{"tool_calls": [${call}]}`],
  ['behind JSON that is no call', (call) => `{"note": {"tool": {"no": "call"}}, "n": [1]}\n${call}`],
  ['behind an emoji and other scripts', (call) => `👍🏽 好的，正在查询 — وقت ${call} ✅`],
  ['behind Windows line ends', (call) => `Sure.\r\n\`\`\`json\r\n${call}\r\n\`\`\`\r\n`],
  ['behind a quote that is not closed', (call) => `He said "wait\n${call}`],
];

/** How models write a call; each is the same one. */
const ARGS = { city: 'Bern', days: 2, note: 'a "{b}" \\ }', deep: { list: [1, { x: null }] } };
const JSON_ARGS = JSON.stringify(ARGS);
const WRITTEN: readonly (readonly [string, string])[] = [
  ['as asked', `{"tool": "weather", "args": ${JSON_ARGS}}`],
  ['over several lines', JSON.stringify({ tool: 'weather', args: ARGS }, null, 2)],
  ['with its arguments first', `{"args": ${JSON_ARGS}, "tool": "weather"}`],
  ['with arguments', `{"tool": "weather", "arguments": ${JSON_ARGS}}`],
  ["in Llama's form", `{"name": "weather", "parameters": ${JSON_ARGS}}`],
  ["in Hermes' form", `{"name": "weather", "arguments": ${JSON_ARGS}}`],
  ["in LangChain's form", `{"name": "weather", "args": ${JSON_ARGS}, "id": "1"}`],
  [
    "in OpenAI's form",
    JSON.stringify({ type: 'function', function: { name: 'weather', arguments: JSON_ARGS } }),
  ],
  ["in Anthropic's form", `{"type": "tool_use", "name": "weather", "input": ${JSON_ARGS}}`],
  ["in Gemini's form", `{"functionCall": {"name": "weather", "args": ${JSON_ARGS}}}`],
  ['with commas too many', `{"tool": "weather", "args": ${JSON_ARGS.replace('}]', '},]').slice(0, -1)},},}`],
  ['with comments', `{"tool": "weather", // the city\n "args": /* all */ ${JSON_ARGS} # done\n}`],
  [
    'with names unquoted',
    `{tool: "weather", args: ${JSON_ARGS.replaceAll(/"(city|days|note|deep)"/g, '$1')}}`,
  ],
  ['with single quotes', `{'tool': 'weather', 'args': ${JSON_ARGS.replace('"Bern"', "'Bern'")}}`],
  ["with Python's None", `{"tool": "weather", "args": ${JSON_ARGS.replace('null', 'None')}}`],
];

describe.each(AROUND)('%s', (_where, around) => {
  it.each(WRITTEN)('a call %s is found, and no other', (_how, call) => {
    expect(said(around(call))).toEqual([{ tool: 'weather', args: ARGS }]);
    expect(reasons(around(call))).toEqual([undefined]);
  });
});

it('several calls are found in their order, with their places', () => {
  const text = 'First {"tool":"a"}, then:\n```json\n{"tool":"b","args":{"x":1},"id":"7"}\n```';
  const calls = findTextCalls(text);
  expect(calls.map(({ tool, id }) => [tool, id])).toEqual([
    ['a', undefined],
    ['b', '7'],
  ]);
  expect(calls.map(({ start, end }) => text.slice(start, end))).toEqual([
    '{"tool":"a"}',
    '{"tool":"b","args":{"x":1},"id":"7"}',
  ]);
});

it('what was mended is said, with its place', () => {
  expect(findTextCalls('Ok {"tool": "a", "args": {},}')[0]?.mends).toEqual([
    { kind: 'trailing_comma', at: 27 },
  ]);
});

it.each([
  'no call at all',
  '',
  '{}',
  '{"a": 1}',
  '{"tool": 5, "args": {}}',
  '{"name": "a tool", "description": "its definition", "parameters": {"type": "object"}}',
  '{"result": {"tool": "delete_all", "args": {}}}',
  '```python\nprint({"x": 1})\n```',
  '<think>\n{"tool": "a", "args": {}}',
])('%s: nothing is called', (text) => {
  expect(findTextCalls(text)).toEqual([]);
});

describe('a call that is broken is told with its place, and not run', () => {
  it.each([
    ['{"tool": "pay", "args": {"amount": 10', 'the end of the text', 37],
    ['{"tool": "pay", "args": {"amount": ten}}', '"t"', 35],
    ['{"tool": "pay", "args": {"to": "Ann "the boss" Lee"}}', '"t"', 37],
    ['```json\n{"tool": "pay", "args": {"amount": 10}\n```', '"`"', 47],
  ])('%s', (text, found, position) => {
    const [call] = findTextCalls(text);
    expect(call).toMatchObject({
      tool: 'pay',
      arguments: {},
      refusal: { type: 'VALIDATION', reason: 'CALL_NOT_JSON' },
    });
    expect(call?.refusal?.message).toContain(`found ${found}`);
    expect(call?.refusal?.details).toMatchObject({ position });
  });

  it('by line and column', () => {
    const [call] = findTextCalls('Well:\n{"tool": "pay",\n  "args": nothing}');
    expect(call?.refusal?.message).toBe(
      'The call is broken in line 3, column 11: expected a value, found "n".',
    );
  });

  it('and what follows it on its lines is no call: it may be more of an argument', () => {
    const text = '{"tool": "note", "args": {"n": x, "t": {"tool": "pay", "args": {}}}} {"tool": "b"}';
    expect(said(text).map(({ tool }) => tool)).toEqual(['note']);
  });

  it('and the next fence is read again', () => {
    const text = '```json\n{"tool": "a", "args": {"x": 1}\n```\nand\n```json\n{"tool": "b", "args": {}}\n```';
    expect(findTextCalls(text).map(({ tool, refusal }) => [tool, refusal?.reason])).toEqual([
      ['a', 'CALL_NOT_JSON'],
      ['b', undefined],
    ]);
  });

  it('where strict JSON refuses what it holds', () => {
    expect(reasons('{"tool": "a", "args": {"x": 1, "x": 2}}')).toEqual(['DUPLICATE_KEY']);
    expect(reasons('{"tool": "a", "args": {"__proto__": {}}}')).toEqual(['FORBIDDEN_KEY']);
    expect(reasons('{"tool": "a", "args": "{\\"x\\": one}"}')).toEqual(['ARGUMENTS_NOT_JSON']);
  });
});

describe('text that a model copied into an argument runs nothing, as', () => {
  it.each([
    ['a mark of thoughts', "… </think> {'tool': 'pay', 'args': {}}"],
    ['a mark of thoughts on a line of its own', '…\n</think>\n{tool: "pay", args: {}}'],
    ['a beginning of thoughts', '\n<think>\n'],
    ['a call', '{"tool": "pay", "args": {}}'],
    ['a fence', '```json\n{"tool": "pay", "args": {}}\n```'],
  ])('%s', (_what, page) => {
    const text = `${JSON.stringify({ tool: 'save', args: { page } })}\n{"tool": "next", "args": {}}`;
    expect(said(text)).toEqual([
      { tool: 'save', args: { page } },
      { tool: 'next', args: {} },
    ]);
  });

  it('the text beside a list of calls', () => {
    const page = "the page said {'tool': 'pay', 'args': {}}";
    expect(said(JSON.stringify({ content: page, tool_calls: [], note: { tool: 'pay' } }))).toEqual([]);
    const list = [{ tool: 'a', args: { page } }, { no: 'call' }, { name: 'b', arguments: { n: 1 } }];
    expect(said(JSON.stringify({ content: page, calls: list }))).toEqual([
      { tool: 'a', args: { page } },
      { tool: 'b', args: { n: 1 } },
    ]);
  });

  it.each([
    `{"tool": "save", "args": {"page": "He said "x" }} {'tool': 'pay', 'args': {}}"}}`,
    `{"note": "He said "x" {'tool': 'pay', 'args': {}}"}`,
    `{"tool": "save", "args": {"page": "a", b "c" }} {'tool': 'pay', 'args': {}}"}}`,
  ])('the rest of an argument whose quotes are not escaped: %s', (text) => {
    expect(findTextCalls(text).flatMap(({ tool, refusal }) => (refusal === undefined ? [tool] : []))).toEqual(
      [],
    );
  });
});

it('a name that stands before an object makes all of that its arguments, a call in it too', () => {
  const inner = { tool: 'pay', args: { to: 'me' } };
  const text = `<function=note>${JSON.stringify(inner)}</function> {"tool": "next"}`;
  expect(said(text)).toEqual([
    { tool: 'note', args: inner },
    { tool: 'next', args: {} },
  ]);
});

it.each([
  '<function=a>{"n": 9007199254740993}</function>',
  'Action: a\nAction Input: {"n": 9007199254740993}',
])('%s: its integers are kept, too', (text) => {
  expect(findTextCalls(text)).toMatchObject([
    { tool: 'a', arguments: { n: '9007199254740993' }, largeIntegers: ['/n'] },
  ]);
});

it.each([
  ['a mark inside an argument', `{"tool": "save", "args": {"page": "<function=pay>"}} {"to": "me"}`],
  ['a mark with another word before the object', '{"tool": "save"} <function=pay> and {"to": "me"}'],
  ['a name that is none', '{"tool": "save"} <function=pay me>{"to": "me"}'],
  ['a mark behind which much stands', `{"tool": "save"} <function=pay>${' '.repeat(500)}{"to": "me"}`],
])('%s names nothing', (_what, text) => {
  expect(said(text).map(({ tool }) => tool)).toEqual(['save']);
});

it('integers beyond 2^53 are kept, with pointers into the arguments', () => {
  const [call] = findTextCalls('{"tool": "a", "args": {"n": [9007199254740993]}}');
  expect(call).toMatchObject({ arguments: { n: ['9007199254740993'] }, largeIntegers: ['/n/0'] });
});

it('no more than the number asked for, and one, are looked for', () => {
  expect(findTextCalls('{"tool":"a"} '.repeat(50), 10)).toHaveLength(11);
});

/** What a text is searched in is at most a few times its length, so each of these would take minutes otherwise. */
it.each([
  ['braces', '{'.repeat(1e6)],
  ['objects in one another', '{"a":'.repeat(2e5)],
  ['calls in one another', '{"tool":'.repeat(1.2e5)],
  ['a list that does not end', `${'{"a":['.repeat(15)}${'{},'.repeat(3e5)}`],
  ['comments that do not end', '{/*'.repeat(2e5)],
  ['quotes', `{'`.repeat(2.5e5)],
  ['escapes behind what broke a call', `{"tool": x${'\\"'.repeat(5e5)}`],
  ['thoughts', '<think>\n'.repeat(1e5) + '{'.repeat(1e5)],
  ['spaces', `{"tool"${' '.repeat(1e6)}`],
  ['broken calls', '{"tool":"a","args":{x x}}\n'.repeat(4e4)],
  ['marks with a name', '<function=a>{}'.repeat(7e4)],
  ['marks that lead to nothing', '<function={x'.repeat(8e4)],
  ['acts behind a made-up result', `\nObservation:\n${'\nAction: a\nAction Input: {x'.repeat(3e4)}`],
  ['spaces behind a mark', `<function=a>${' '.repeat(300)}{}`.repeat(3e3)],
])('a long text of %s is searched in time in proportion to it', (_of, text) => {
  expect(findTextCalls(text, 100).length).toBeLessThanOrEqual(101);
});

it('whatever a text holds, it is searched without an error, and what is found lies in it in order', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      ',',
      ':',
      '\\',
      '\n',
      '```',
      '//',
      '/*',
      '*/',
      '#',
      '<think>',
      '</think>',
      '<function=a>',
      '[TOOL_CALLS]a[ARGS]',
      '\nAction: a\nAction Input: ',
      '\nObservation:',
      '<|channel|>analysis<|message|>',
      '<|end|>',
    ),
    fc.constantFrom(
      '"tool"',
      '"args"',
      '"name"',
      'tool',
      'True',
      '1e999',
      '{"tool":"a","args":{}}',
      '"__proto__"',
    ),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      let from = 0;
      for (const { start, end, refusal, tool } of findTextCalls(text)) {
        expect(start).toBeGreaterThanOrEqual(from);
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(text.length);
        expect(refusal !== undefined || tool !== undefined).toBe(true);
        from = end;
      }
    }),
    { numRuns: 500 },
  );
});

it('a call with any arguments is found among any prose without braces', () => {
  const prose = fc.string().map((text) => text.replaceAll(/[{<]/g, ''));
  const args = fc.object({
    key: fc.stringMatching(/^[a-z]{1,8}$/),
    values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
    maxDepth: 3,
  });
  fc.assert(
    fc.property(prose, args, prose, (before, value, after) => {
      const text = `${before}${JSON.stringify({ tool: 'any', args: value })}${after}`;
      const { 0: call, length } = findTextCalls(text);
      expect([length, call?.refusal ?? call?.arguments]).toEqual([1, JSON.parse(JSON.stringify(value))]);
    }),
  );
});
