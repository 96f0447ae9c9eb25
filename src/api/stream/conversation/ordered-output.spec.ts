// OrderedOutput: what follows a call is said after its result, whenever calls end.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_HELD_SIZE, OrderedOutput, type CallSlot } from './ordered-output.ts';

const said = (message: string) => ({ message, size: message.length });

/** In the client's order, each call with what it says; and in which order calls end. */
const script = fc.array(
  fc.oneof(fc.constant('text' as const), fc.record({ events: fc.nat(3), endsAfter: fc.nat(20) })),
  { maxLength: 30 },
);

describe('ordered output', () => {
  it('says everything once, in the order of what the client said, whenever calls end', () => {
    fc.assert(
      fc.property(script, fc.infiniteStream(fc.nat(1_000)), (steps, choices) => {
        const out: string[] = [];
        const output = new OrderedOutput<string>(({ message }) => out.push(message));
        const expected: string[] = [];
        const open: { readonly slot: CallSlot<string>; readonly name: string; left: string[] }[] = [];
        const act = (choice: number) => {
          const call = open[choice % Math.max(1, open.length)];
          if (call === undefined) return;
          const event = call.left.shift();
          if (event !== undefined) call.slot.push(said(event), false);
          else {
            call.slot.close(said(`${call.name} result`));
            open.splice(open.indexOf(call), 1);
          }
        };
        for (const [index, step] of steps.entries()) {
          if (step === 'text') {
            output.say(said(`text ${index}`));
            expected.push(`text ${index}`);
          } else {
            const name = `call ${index}`;
            const events = Array.from({ length: step.events }, (_, each) => `${name} event ${each}`);
            open.push({ slot: output.open(), name, left: events });
            expected.push(...events, `${name} result`);
          }
          act(choices.next().value);
        }
        while (open.length > 0) act(choices.next().value);
        expect(out).toEqual(expected);
        expect([output.held, output.heldSize]).toEqual([0, 0]);
      }),
    );
  });

  it('passes on at once what the first call under way says', () => {
    const out: string[] = [];
    const output = new OrderedOutput<string>(({ message }) => out.push(message));
    const first = output.open();
    const second = output.open();
    second.push(said('of the second'), false);
    first.push(said('of the first'), false);
    expect(out).toEqual(['of the first']);
    first.close(said('first is over'));
    expect(out).toEqual(['of the first', 'first is over', 'of the second']);
  });

  it('holds no more than it may of a call that is not the first: what may be left out is, the rest says so', () => {
    const output = new OrderedOutput<string>(() => undefined);
    output.open();
    const second = output.open();
    expect(second.push({ message: 'large', size: MOST_HELD_SIZE }, false)).toBe(true);
    expect(second.push(said('a log line'), true)).toBe(true);
    expect(second.push(said('a partial result'), false)).toBe(false);
    expect(output.held).toBe(1);
  });

  it('says nothing more of a call that has ended', () => {
    const out: string[] = [];
    const output = new OrderedOutput<string>(({ message }) => out.push(message));
    const call = output.open();
    call.close(said('result'));
    call.push(said('late'), false);
    call.close(said('another result'));
    expect(out).toEqual(['result']);
  });
});
