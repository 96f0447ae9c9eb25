// Answers of an upstream that is hostile: bounded over all messages of a stream, and others get their turn.
import type { DescMethod } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { KITCHEN } from '../../../test/helpers/grpc-upstream.ts';
import type { JsonValue } from '../../contract/json.ts';
import { compileProtos } from '../../lib/grpc/compile-protos.ts';
import { methodIn, openDescriptors } from '../../lib/grpc/descriptor-set.ts';
import { AnswerReader } from './answer-reader.ts';

const types = openDescriptors(compileProtos([KITCHEN], [dirname(KITCHEN)]).files);
const STREAM = {
  ...methodIn(types, 'kitchen.v1.Kitchen/Echo'),
  methodKind: 'server_streaming',
} as DescMethod;
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
  return { emitted, reader: new AnswerReader(STREAM, types, bounds, listener) };
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
  let turn = 0;
  const next = () => void (turn += 1);
  const turns = new Set<number>();
  for (let sent = 0; sent < 50; sent += 1) {
    setImmediate(next);
    await answer.take(children(20));
    turns.add(turn);
  }
  expect(emitted).toHaveLength(50);
  // Each is some 500 values.
  expect(turns.size).toBeGreaterThan(20);
});
