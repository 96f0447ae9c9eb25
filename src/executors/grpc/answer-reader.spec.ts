// Answers of an upstream that is hostile: bounded over all messages of a stream, and others get their turn.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { KITCHEN } from '../../../test/helpers/grpc-upstream.ts';
import type { JsonValue } from '../../contract/json.ts';
import { compileProtos } from '../../lib/grpc/compile-protos.ts';
import { methodIn, openDescriptors } from '../../lib/grpc/descriptor-set.ts';
import { AnswerReader } from './answer-reader.ts';

const types = openDescriptors(compileProtos([KITCHEN], [dirname(KITCHEN)]).files);
const METHOD = 'kitchen.v1.Kitchen/Stream';
const bounds = { maxMessages: 1_000, maxBytes: 4 << 20, defaults: true };
const children = (count: number) => {
  const message = new BinaryWriter();
  for (let each = 0; each < count; each += 1)
    message.tag(11, WireType.LengthDelimited).bytes(new Uint8Array());
  return message.finish();
};

function reader() {
  const emitted: JsonValue[] = [];
  const emit = ({ data }: { readonly data?: unknown }) => void emitted.push(data as JsonValue);
  const listener = { emit: emit as never, clean: (value: JsonValue) => value };
  return { emitted, reader: new AnswerReader(methodIn(types, METHOD), types, bounds, listener) };
}

it('messages of a few bytes that stand for many values are too many together', async () => {
  const { reader: answer } = reader();
  const all = async () => {
    for (let sent = 0; sent < 1_000; sent += 1) await answer.take(children(100));
  };
  await expect(all()).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE', reason: 'TOO_MANY_VALUES' });
});

it('what takes longer than a few messages waits for a turn of the event loop, and the next message waits for it', async () => {
  const { reader: answer, emitted } = reader();
  const turns: number[] = [];
  let turn = 0;
  const counted = setInterval(() => (turn += 1), 0);
  let waited = 0;
  for (let sent = 0; sent < 50; sent += 1) {
    const taken = answer.take(children(20));
    if (taken !== undefined) waited += 1;
    await taken;
    turns.push(turn);
  }
  clearInterval(counted);
  expect(emitted).toHaveLength(50);
  expect(waited).toBeGreaterThan(10);
});
