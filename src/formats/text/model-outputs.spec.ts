// What models of many families print where nobody reads their calls for them, written down by hand: which calls are in it, and which are not.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findTextCalls } from './text-calls.ts';

interface Output {
  /** The model, and what is particular about it. */
  readonly as: string;
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly args?: object; readonly refused?: string }[];
}

const FOLDER = resolve(import.meta.dirname, '../../../test/fixtures/model-outputs');
const files = readdirSync(FOLDER).map(
  (name) => [name, parse(readFileSync(join(FOLDER, name), 'utf8')) as readonly Output[]] as const,
);

it('there are outputs of more than sixty kinds', () => {
  expect(files.flatMap(([, outputs]) => outputs).length).toBeGreaterThan(60);
});

describe.each(files)('%s', (_name, outputs) => {
  it.each(outputs.map((output) => [output.as, output] as const))('%s', (_as, { text, calls }) => {
    const found = findTextCalls(text).map(({ tool, arguments: args, refusal }) =>
      refusal === undefined ? { tool, args } : { tool, refused: refusal.reason },
    );
    expect(found).toEqual(calls);
  });

  // Of thoughts that the template began nobody knows before their end.
  const cut = outputs.filter(({ text }) => text.includes('<think>') || !text.includes('</think>'));
  it.each(cut.map((output) => [output.as, output] as const))(
    '%s: cut off anywhere, no call is made up',
    (_as, { text, calls }) => {
      const whole = calls.filter(({ refused }) => refused === undefined);
      for (let end = 0; end < text.length; end += 1) {
        const found = findTextCalls(text.slice(0, end)).filter(({ refusal }) => refusal === undefined);
        const made = found.map(({ tool, arguments: args }) => ({ tool, args }));
        expect(made).toEqual(whole.slice(0, found.length));
      }
    },
  );
});
