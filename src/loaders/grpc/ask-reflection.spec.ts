// What is asked of an upstream's reflection: bounded in what it costs the event loop, whatever the upstream answers.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import type { GrpcUpstream } from '../../ports/egress/grpc-upstreams.ts';
import { askReflection, ReflectionError } from './ask-reflection.ts';

const bytesField = (number: number, bytes: Uint8Array) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
const textField = (number: number, text: string) => bytesField(number, Buffer.from(text));
const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const listing = (...names: string[]) =>
  bytesField(6, joined(...names.map((name) => bytesField(1, textField(1, name)))));
const filesOf = (...files: Uint8Array[]) =>
  bytesField(4, joined(...files.map((file) => bytesField(1, file))));
const file = (name: string, dependency: string[] = []) =>
  toBinary(FileDescriptorProtoSchema, create(FileDescriptorProtoSchema, { name, dependency }));
/** As many fields of no length as that; two bytes each. */
const empties = (number: number, count: number) =>
  new Uint8Array(Buffer.alloc(2 * count, Buffer.from([(number << 3) | 2, 0])));

function asking(answerTo: (asked: string) => Uint8Array, asked: string[] = []) {
  const upstream: Pick<GrpcUpstream, 'call'> = {
    call: async ({ message, onMessage }) => {
      const text = Buffer.from(message).subarray(2).toString();
      asked.push(text);
      await onMessage(answerTo(text));
    },
  };
  return {
    upstream: upstream as GrpcUpstream,
    metadata: {},
    timeoutMs: 1_000,
    signal: new AbortController().signal,
  };
}

const asks = (answerTo: (asked: string) => Uint8Array, asked: string[] = []) =>
  askReflection(asking(answerTo, asked), () => true);

it('gives each file once, with all that it imports, as the same set in whatever order they come', async () => {
  const files: Record<string, Uint8Array> = {
    'a.A': file('a.proto', ['c.proto', 'google/protobuf/any.proto']),
    'b.B': file('b.proto', ['c.proto']),
    'c.proto': file('c.proto', ['d.proto']),
    'd.proto': file('d.proto'),
  };
  const asked: string[] = [];
  const answer = (order: string[]) => (text: string) =>
    text === '' ? listing(...order) : filesOf(files[text] ?? new Uint8Array());
  const set = await asks(answer(['a.A', 'b.B', 'a.A']), asked);
  expect(asked).toEqual(['', 'a.A', 'b.B', 'c.proto', 'd.proto']);
  expect(fromBinary(FileDescriptorSetSchema, set).file.map(({ name }) => name)).toEqual([
    'a.proto',
    'b.proto',
    'c.proto',
    'd.proto',
  ]);
  expect(await asks(answer(['b.B', 'a.A']))).toEqual(set);
});

describe('an answer of millions of fields is refused when the first of them have been read', () => {
  const many = 1_900_000;
  it.each<[string, (asked: string) => Uint8Array]>([
    ['lists', () => empties(6, many)],
    ['services in a list', () => bytesField(6, empties(1, many))],
    ['names of one service', () => bytesField(6, bytesField(1, empties(1, many)))],
    ['files', (asked) => (asked === '' ? listing('a.A') : bytesField(4, empties(1, many)))],
    ['types of a file', (asked) => (asked === '' ? listing('a.A') : filesOf(empties(4, many)))],
    ['imports of a file', (asked) => (asked === '' ? listing('a.A') : filesOf(empties(3, many)))],
    ['faults', () => empties(7, many)],
    ['fields of a fault', () => bytesField(7, empties(2, many))],
  ])('%s', async (_what, answerTo) => {
    await expect(asks(answerTo)).rejects.toThrow(/cannot be read: it holds more than 100000 fields/);
  });

  it('in a group, which is not entered', async () => {
    const group = joined(new Uint8Array([0x0b]), empties(2, many), new Uint8Array([0x0c]));
    await expect(asks(() => group)).rejects.toThrow(/cannot be read: it holds a group/);
  });

  it('in many names of services', async () => {
    const names = Array.from({ length: 10_001 }, (_, index) => `a.A${index}`);
    await expect(asks(() => listing(...names))).rejects.toThrow(/lists more than 10000 services/);
  });
});

it.each([
  ['that is no message', new Uint8Array([0xff, 0xff])],
  ['without a list', new Uint8Array()],
])('an answer %s gives nothing or is refused', async (_what, answer) => {
  const set = await asks(() => answer).catch((error: unknown) => error);
  expect(set instanceof ReflectionError || (set as Uint8Array).length === 0).toBe(true);
});

it('an import chain without an end is given up, and costs no more with each link', async () => {
  let count = 0;
  const endless = (asked: string) =>
    asked === '' ? listing('a.A') : filesOf(file(`${(count += 1)}.proto`, [`${count + 1}.proto`]));
  // The first file is 1.proto, whatever symbol was asked for.
  await expect(asks(endless)).rejects.toThrow(/more than 2000 files/);
  expect(count).toBe(2_001);
});
