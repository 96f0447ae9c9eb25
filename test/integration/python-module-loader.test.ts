// The python-module loader and the @tool decorator: every kind of hint, docstrings, options, errors with their lines, changes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import { specRules } from '../../src/app/gateway/registry-rules.ts';
import { validateLoaded } from '../../src/registry/checks/spec-validation.ts';
import { GOOD, HEADER, PythonModules } from '../helpers/python-modules.ts';
import { PythonBench } from '../helpers/python-ports.ts';

const OFF = { sandbox: 'off' };

let modules: PythonModules;
let spawner: NodeProcessSpawner;

beforeAll(() => {
  spawner = new NodeProcessSpawner();
});
afterAll(() => spawner.closeAll());
beforeEach(() => {
  modules = new PythonModules();
});
afterEach(() => modules.remove());

const IMPORTS = `from __future__ import annotations
import dataclasses, datetime, enum, typing, uuid
from typing import Annotated, Any, Literal, Optional, TypedDict, Union
${HEADER}
class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"
@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0
class Row(TypedDict, total=False):
    id: int
class Bounded:
    ge, max_length, description = 1, 9, "Bounded"
`;

/** Loads one module, and passes what it brings through the registry. */
async function load(text: string) {
  modules.write('mod.py', text);
  const loaded = await modules.load(['mod'], spawner, OFF);
  return { ...loaded, checked: validateLoaded([{ ...loaded, problems: [] }], specRules()) };
}

async function declared(text: string): Promise<JsonObject> {
  const { tools, problems, checked } = await load(`${IMPORTS}${text}`);
  expect(problems).toEqual([]);
  expect(checked.problems).toEqual([]);
  return tools[0]?.value as JsonObject;
}

describe('a hint becomes a schema', () => {
  const POINT = {
    type: 'object',
    properties: { x: { type: 'number' }, y: { type: 'number' } },
    required: ['x'],
    additionalProperties: false,
  };

  it.each<[string, JsonObject]>([
    ['str', { type: 'string' }],
    ['int', { type: 'integer' }],
    ['float', { type: 'number' }],
    ['bool', { type: 'boolean' }],
    ['Any', {}],
    ['list', { type: 'array' }],
    ['dict', { type: 'object' }],
    ['list[int]', { type: 'array', items: { type: 'integer' } }],
    [
      'tuple[int, str]',
      { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], minItems: 2, maxItems: 2 },
    ],
    ['dict[str, float]', { type: 'object', additionalProperties: { type: 'number' } }],
    ['Optional[int]', { type: ['integer', 'null'] }],
    ['Union[int, str]', { type: ['integer', 'string'] }],
    ['Union[int, list[str]]', { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'string' } }] }],
    ['Literal["a", "b"]', { type: 'string', enum: ['a', 'b'] }],
    ['Optional[Literal[1, 2]]', { type: ['integer', 'null'], enum: [1, 2, null] }],
    ['Color', { type: 'string', enum: ['red', 'blue'] }],
    ['Point', POINT],
    ['list[Point]', { type: 'array', items: POINT }],
    ['Row', { type: 'object', properties: { id: { type: 'integer' } }, additionalProperties: false }],
    ['datetime.datetime', { type: 'string', format: 'date-time' }],
    ['datetime.date', { type: 'string', format: 'date' }],
    ['uuid.UUID', { type: 'string', format: 'uuid' }],
    [
      'Annotated[int, "How many", {"minimum": 1, "maximum": 9}]',
      { type: 'integer', description: 'How many', minimum: 1, maximum: 9 },
    ],
    ['Annotated[int, Bounded]', { type: 'integer', minimum: 1, maxLength: 9, description: 'Bounded' }],
    [
      'Annotated[list[int], Bounded]',
      { type: 'array', items: { type: 'integer' }, minimum: 1, maxItems: 9, description: 'Bounded' },
    ],
  ])('%s', async (hint, schema) => {
    const { input_schema: input } = await declared(`@tool\ndef f(a: ${hint}): pass\n`);
    expect(input).toEqual({
      type: 'object',
      properties: { a: schema },
      required: ['a'],
      additionalProperties: false,
    });
  });
});

describe('a function becomes a tool', () => {
  it('with its docstring in Google style, its defaults and its place', async () => {
    const text = `
@tool
def weather(context, city: str, *, days: int = 3, note: Optional[str] = None, **more) -> list[Row]:
    """Says what the weather
    will be like.

    It asks nobody.

    Args:
        city (str): Where,
            in full.
        days: How many days.

    Returns:
        One row a day.
    """
`;
    expect(await declared(text)).toEqual({
      name: 'weather',
      description: 'Says what the weather will be like.',
      tool_type: 'python',
      input_schema: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'Where, in full.' },
          days: { type: 'integer', description: 'How many days.', default: 3 },
          note: { type: ['string', 'null'] },
        },
        required: ['city'],
      },
      output_schema: {
        type: 'array',
        items: { type: 'object', properties: { id: { type: 'integer' } }, additionalProperties: false },
      },
      implementation_config: { module: 'mod', function_name: 'weather' },
      metadata: { documentation: 'It asks nobody.' },
    });
  });

  it('with :param x: fields, and with no docstring at all', async () => {
    const text =
      '@tool\ndef f(a: int):\n    """Plain.\n\n    :param a: The first\n        one.\n    :returns: b\n    """\n';
    expect(await declared(text)).toMatchObject({
      description: 'Plain.',
      input_schema: { properties: { a: { description: 'The first one.' } } },
    });
    expect(await declared('@tool\ndef g(): pass\n')).toMatchObject({
      description: 'Calls the Python function g.',
    });
  });

  it('with the options of the decorator', async () => {
    const options = `name="other.name", read_only=True, idempotent=True, risk_level="high", permissions=["a:b"],
      timeout_ms=50, pure=True, tags=("x", "y"), version="2.0.0", retries={"max_attempts": 2}, modes=["text"]`;
    expect(await declared(`@tool(${options})\ndef f(): pass\n`)).toMatchObject({
      name: 'other.name',
      timeout_ms: 50,
      retries: { max_attempts: 2 },
      implementation_config: { module: 'mod', function_name: 'f', pure: true },
      metadata: {
        read_only: true,
        idempotent: true,
        risk_level: 'high',
        permissions: ['a:b'],
        tags: ['x', 'y'],
        version: '2.0.0',
        modes: ['text'],
      },
    });
  });

  it.each([
    ['a date', '-> datetime.date'],
    ['a dataclass', '-> Point'],
    ['a bare dict', '-> dict'],
    ['anything', '-> Any'],
    ['nothing', '-> None'],
  ])('without an output schema where it returns %s', async (_, hint) => {
    expect(await declared(`@tool\ndef f()${hint}: pass\n`)).not.toHaveProperty('output_schema');
  });

  it('that is called with what its hints say, also when it is async', async () => {
    modules.write(
      'mod.py',
      `${IMPORTS}
@tool
async def f(at: Point, when: datetime.datetime, colors: list[Color], maybe: Optional[datetime.date] = None, day: datetime.date = datetime.date(2026, 1, 2)):
    return [at.x, at.y, when.utcoffset().total_seconds(), [c.name for c in colors], maybe and maybe.year, day.day]
`,
    );
    const bench = new PythonBench(spawner, { modulePaths: [modules.dir] });
    const args = { at: { x: 1 }, when: '2026-01-02T03:04:05Z', colors: ['red'], maybe: '2025-05-05' };
    expect(await bench.call('mod.f', args)).toEqual([1, 0, 0, ['RED'], 2025, 2]);
    await bench.executor.close?.();
  });
});

describe('what is wrong is named with its file and line', () => {
  it.each<[string, string, RegExp, number]>([
    ['a syntax error', 'def f(:\n', /SyntaxError/, 1],
    ['an import that fails', `\n${HEADER}import nowhere\n`, /No module named 'nowhere'/, 3],
    [
      'an unknown option',
      `${HEADER}\n@tool(readonly=True)\ndef f(): pass\n`,
      /no option 'readonly'; known: .*read_only/,
      3,
    ],
    [
      'an option of the wrong type',
      `${HEADER}\n@tool(timeout_ms="5")\ndef f(): pass\n`,
      /must be a int, found str/,
      3,
    ],
    [
      'a hint without a schema',
      `${HEADER}\n@tool\ndef f(a: complex): pass\n`,
      /the parameter 'a' has the type complex/,
      3,
    ],
    [
      'a hint that is not there',
      `${HEADER}\n@tool\ndef f(a: "Nope"): pass\n`,
      /name 'Nope' is not defined/,
      3,
    ],
    ['a positional parameter', `${HEADER}\n@tool\ndef f(a, /): pass\n`, /takes its value by position/, 3],
    ['a dict with other keys', `${HEADER}\n@tool\ndef f(a: dict[int, str]): pass\n`, /keys are not str/, 3],
    ['a name that is private', `${HEADER}\n@tool\ndef _f(): pass\n`, /must not start with _/, 3],
    ['a function under another name', `${HEADER}\ndef g(): pass\nf = tool(g)\n`, /is called 'f'/, 3],
    ['a module without tools', 'x = 1\n', /no function marked with @tool/, 1],
  ])('%s', async (_, text, message, line) => {
    const { problems } = await load(text);
    expect(problems).toMatchObject([{ file: join(modules.dir, 'mod.py'), line }]);
    expect(problems[0]?.message).toMatch(message);
  });

  it('what the registry refuses stands at the function', async () => {
    const { checked } = await load(`${HEADER}\n@tool(risk_level="enormous")\ndef f(): pass\n`);
    expect(checked.problems).toMatchObject([{ file: join(modules.dir, 'mod.py'), line: 3, tool: 'f' }]);
  });

  it('a module that is not there, a folder that is not there, an interpreter that is not there', async () => {
    expect((await modules.load(['none'], spawner, OFF)).problems[0]?.message).toContain(
      'there is no module none',
    );
    const noFolder = await modules.load(['mod'], spawner, { ...OFF, paths: ['nowhere'] });
    expect(noFolder.problems).toMatchObject([{ file: join(modules.dir, 'nowhere') }]);
    const noPython = await modules.load(['mod'], spawner, { ...OFF, interpreter: 'no-such-python' });
    expect(noPython.problems[0]?.message).toContain('no-such-python');
  });
});

it('finds modules in packages, and in the folder that has them', async () => {
  modules.write('first/unrelated.py', '');
  modules.write('second/shop/__init__.py', '');
  modules.write('second/shop/prices.py', GOOD);
  const options = { ...OFF, paths: ['first', 'second'] };
  const { tools, problems } = await modules.load(['shop.prices'], spawner, options);
  expect(problems).toEqual([]);
  expect(tools[0]?.baseDir).toBe(join(modules.dir, 'second'));
  expect(tools[0]?.locate([])).toEqual({ file: join(modules.dir, 'second/shop/prices.py'), line: 3 });
});

it('a changed module says so once', async () => {
  modules.write('mod.py', GOOD);
  const stop = new AbortController();
  const loader = modules.loader(['mod'], spawner, OFF);
  await loader.load(stop.signal);
  let changes = 0;
  const watching = loader.watch?.(() => (changes += 1), stop.signal);
  modules.write('mod.py', GOOD.replace('def good', 'def better'));
  await expect.poll(() => changes).toBe(1);
  const { tools } = await loader.load(stop.signal);
  expect(tools[0]?.value).toMatchObject({ name: 'better' });
  stop.abort();
  await watching;
  expect(changes).toBe(1);
});

it('an abort ends the interpreter', async () => {
  const marker = join(modules.dir, 'imported');
  modules.write('mod.py', `import time\nopen(${JSON.stringify(marker)}, "w")\ntime.sleep(600)\n`);
  const stop = new AbortController();
  const loading = modules.loader(['mod'], spawner, OFF).load(stop.signal);
  await expect.poll(() => existsSync(marker)).toBe(true);
  stop.abort(new Error('stopping'));
  await expect(loading).rejects.toThrow('stopping');
});
