// What spans hold of arguments and results where an operator asks for them.
import { describe, expect, it } from 'vitest';
import { callOf, echoNext, functionOf } from '../../../test/helpers/call-kit.ts';
import { refusalOf } from '../../core/settle.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { contentOf } from './call-attributes.ts';

const PIN = '7391-4402';
const pay = functionOf({
  inputSchema: {
    type: 'object',
    properties: { pin: { type: 'string', 'x-ute-sensitive': true }, note: { type: 'string' } },
  },
});

/** The tool answers with what it was given. */
async function contentWhen(asked: object, enteredWith: object | undefined) {
  const call = callOf({ function: pay, arguments: { ...asked } });
  call.progress.pinned = pay;
  if (enteredWith === undefined) return contentOf(call, refusalOf(call, toolFailure('SCHEMA_MISMATCH', 'x')));
  call.progress.enteredWith = { ...enteredWith };
  const response = await echoNext().next({ ...call, arguments: { ...enteredWith } });
  return contentOf(call, response.ok ? { ...response, data: { ...enteredWith } } : response);
}

describe('content of a span', () => {
  it('is what the tool was given, and not what was asked before a rule masked it', async () => {
    const content = JSON.stringify(await contentWhen({ note: 'bob@example.com' }, { note: '[email]' }));
    expect(content).toContain('[email]');
    expect(content).not.toContain('bob@');
  });

  it('has no sensitive value, wherever else the call or the answer repeats it', async () => {
    const args = { pin: PIN, note: `the pin is ${PIN}` };
    const content = await contentWhen(args, args);
    expect(Object.keys(content)).toHaveLength(2);
    expect(JSON.stringify(content)).not.toContain(PIN);
  });

  it('is nothing of a call that was refused before: which of its values are sensitive, no schema says', async () => {
    expect(await contentWhen({ pni: PIN }, undefined)).toEqual({});
  });
});
