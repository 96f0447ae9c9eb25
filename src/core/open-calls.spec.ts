// OpenCalls: whichever call ends when, those that are open are told in the order in which they began. What ended calls leave in the
// heap: test/integration/passing-memory.test.ts.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { callOf } from '../../test/helpers/call-kit.ts';
import type { ToolCall } from '../contract/call/tool-call.ts';
import { OpenCalls } from './open-calls.ts';

it('tells the calls that are open, in the order in which they began', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(9), { nil: undefined }), { maxLength: 60 }), (acts) => {
      const open = new OpenCalls();
      const expected: { readonly call: ToolCall; readonly slot: number }[] = [];
      for (const [index, ends] of acts.entries()) {
        const [ended] = ends === undefined ? [] : expected.splice(ends % (expected.length + 1), 1);
        if (ended !== undefined) open.leave(ended.slot);
        else {
          const call = callOf({ id: `call-${index}` });
          expected.push({ call, slot: open.enter(call) });
        }
        expect(open.list()).toEqual(expected.map(({ call }) => call));
        expect(open.size).toBe(expected.length);
      }
    }),
  );
});
