// The report of describe.py: what is not its own, or not what was asked for, is not taken.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readReport } from './report.ts';

const TOOL = {
  spec: {
    name: 'f',
    tool_type: 'python',
    implementation_config: { module: 'mod', function_name: 'f' },
  },
  folder: '/tools',
  file: '/tools/mod.py',
  line: 3,
};

function read(...lines: object[]) {
  return readReport(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), ['mod'], ['/tools']);
}

function withTool(tool: object) {
  return read({ importing: 'mod' }, { module: 'mod', tools: [tool], problems: [] }, { done: true });
}

it('gives the tools of a whole report', () => {
  expect(withTool(TOOL)).toMatchObject({ tools: [TOOL], isDone: true, garbled: false, importing: undefined });
});

it('knows which module was being imported when it ends early', () => {
  expect(read({ importing: 'mod' })).toMatchObject({ importing: 'mod', isDone: false });
});

it.each([
  ['of another executor', { ...TOOL, spec: { ...TOOL.spec, tool_type: 'shell' } }],
  [
    'of a module that was not asked for',
    { ...TOOL, spec: { ...TOOL.spec, implementation_config: { module: 'os', function_name: 'system' } } },
  ],
  [
    'that runs code',
    {
      ...TOOL,
      spec: { ...TOOL.spec, implementation_config: { module: 'mod', function_name: 'f', code: true } },
    },
  ],
  ['of another folder', { ...TOOL, folder: '/elsewhere' }],
])('takes nothing of a report with a tool %s', (_, tool) => {
  expect(withTool(tool)).toMatchObject({ tools: [], garbled: true, isDone: false });
});

it('takes nothing of what comes after its end', () => {
  expect(read({ done: true }, { module: 'mod', tools: [], problems: [] })).toMatchObject({ garbled: true });
});

it('never throws, whatever comes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(readReport(text, ['mod'], ['/tools']).tools).toEqual([]);
    }),
  );
});
