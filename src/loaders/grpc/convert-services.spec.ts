// Services as tools: what a description says of them, and what nobody may do with one.
import { create, toBinary } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KITCHEN } from '../../../test/helpers/grpc-upstream.ts';
import { compileProtos } from '../../lib/grpc/compile-protos.ts';
import { openDescriptors, readDescriptorSet, writeDescriptorSet } from '../../lib/grpc/descriptor-set.ts';
import { createValidator } from '../../lib/json-schema/validator.ts';
import { convertServices } from './convert-services.ts';
import { optionsSchema } from './options.ts';

const optionsOf = (said: object = {}) => {
  const { upstream: _, ...options } = optionsSchema.parse({
    name: 'k',
    reflection: true,
    target: 'x:443',
    ...said,
  });
  return options;
};
type FileInit = Parameters<typeof create<typeof FileDescriptorProtoSchema>>[1];
const setOf = (...files: FileInit[]) =>
  toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: files.map((file) => create(FileDescriptorProtoSchema, file)) }),
  );
const converted = (set: Uint8Array, said?: object) =>
  convertServices({ set, comments: new Map(), options: optionsOf(said) });
const service = (...methods: [string, string, string][]) => ({
  name: 'S',
  method: methods.map(([name, inputType, outputType]) => ({ name, inputType, outputType })),
});
const field = (name: string, number: number, more: object = {}) => ({
  name,
  number,
  label: Label.OPTIONAL,
  type: Type.STRING,
  jsonName: name,
  ...more,
});

describe('services', () => {
  const described = compileProtos([KITCHEN], [dirname(KITCHEN)]);
  const kitchen = { set: writeDescriptorSet(described.files), comments: described.comments };

  it('are tools by name, service and method, but for what takes a stream', () => {
    const { tools, leftOut } = convertServices({ ...kitchen, options: optionsOf() });
    expect(tools.map(({ value }) => value['name'])).toEqual(
      ['Echo', 'Count', 'Fail', 'Metadata', 'Large', 'Hang', 'OldOne'].map((name) => `k.Kitchen_${name}`),
    );
    expect(leftOut).toEqual([
      {
        method: 'kitchen.v1.Kitchen/Collect',
        reason: 'takes a stream of messages, which a call cannot give',
      },
    ]);
  });

  it('are those that are asked for, named as the operator likes', () => {
    const { tools } = convertServices({
      ...kitchen,
      options: optionsOf({
        services: ['kitchen.*'],
        include: ['*/E*', '*/F*'],
        exclude: ['*/Fail'],
        prefix: '',
        tool_name: '{package}.{method}',
      }),
    });
    expect(tools.map(({ value }) => value['name'])).toEqual(['kitchen.v1.Echo']);
    expect(convertServices({ ...kitchen, options: optionsOf({ services: ['none.*'] }) }).problem).toContain(
      'There is no method',
    );
  });

  it('bring along what they need, and nothing else', () => {
    const { set } = convertServices({ ...kitchen, options: optionsOf({ include: ['*/Large'] }) });
    const registry = openDescriptors(readDescriptorSet(set).files);
    expect(registry.getMessage('kitchen.v1.Number')).toBeDefined();
    expect(registry.getMessage('kitchen.v1.Everything')).toBeUndefined();
  });

  it('have schemas that take what the mapping says, and refuse what it does not', () => {
    const { tools } = convertServices({ ...kitchen, options: optionsOf({ include: ['*/Echo'] }) });
    const validator = createValidator(tools[0]?.value['input_schema'] as object);
    const faults = (value: object) => validator.validate(value);
    for (const fine of [
      {},
      { children: [{ children: [{}] }] },
      { free: { a: [1] }, anyValue: null },
      { byNumber: { '-7': 'x' } },
      { at: '2026-01-31T12:00:00Z', lasts: '-1.5s' },
    ])
      expect(faults(fine)).toEqual([]);
    for (const wrong of [
      { small: 1.5 },
      { colour: 1 },
      { byNumber: { x: 'y' } },
      { children: [{ nope: 1 }] },
      { lasts: 5 },
    ])
      expect(faults(wrong)).not.toEqual([]);
  });
});

describe('a hostile description', () => {
  const nothing = { name: 'N' };

  it('of a message with a hundred thousand fields costs that method, and no other', () => {
    const huge = { name: 'Huge', field: Array.from({ length: 100_000 }, (_, n) => field(`f${n}`, n + 1)) };
    const { tools, leftOut, set } = converted(
      setOf({
        name: 'a.proto',
        package: 'a',
        syntax: 'proto3',
        messageType: [huge, nothing],
        service: [service(['Big', '.a.Huge', '.a.N'], ['Small', '.a.N', '.a.N'])],
      }),
    );
    expect(tools.map(({ value }) => value['name'])).toEqual(['k.S_Small']);
    expect(leftOut[0]?.reason).toContain('a message of more than 1500 fields and types');
    expect(set.length).toBeLessThan(1_000);
  });

  it('of messages that lead to each other without end is a schema with references', () => {
    const chain = Array.from({ length: 300 }, (_, n) => ({
      name: `M${n}`,
      field: [field('next', 1, { type: Type.MESSAGE, typeName: `.a.M${(n + 1) % 300}` })],
    }));
    const { tools, leftOut } = converted(
      setOf({
        name: 'a.proto',
        package: 'a',
        syntax: 'proto3',
        messageType: chain,
        service: [service(['Go', '.a.M0', '.a.M0'])],
      }),
    );
    expect(tools.length + leftOut.length).toBe(1);
  });

  it.each<[string, object, string]>([
    [
      'whose names would be the same',
      {
        messageType: [
          { name: 'M', field: [field('a_b', 1, { jsonName: 'x' }), field('c', 2, { jsonName: 'x' })] },
        ],
      },
      'two fields called "x"',
    ],
    [
      'whose names are traps',
      { messageType: [{ name: 'M', field: [field('a', 1, { jsonName: '__proto__' })] }] },
      '__proto__',
    ],
  ])('%s is left out', (_, file, reason) => {
    const { problem, leftOut } = converted(
      setOf({
        name: 'a.proto',
        package: 'a',
        syntax: 'proto3',
        ...file,
        service: [service(['Go', '.a.M', '.a.M'])],
      }),
    );
    expect(`${problem} ${leftOut[0]?.reason}`).toContain(reason);
  });

  it('whose methods have one name is left out but for the first', () => {
    const { tools, leftOut } = converted(
      setOf({
        name: 'a.proto',
        package: 'a',
        syntax: 'proto3',
        messageType: [nothing],
        service: [service(['Go', '.a.N', '.a.N']), { ...service(['Go', '.a.N', '.a.N']), name: 'T' }],
      }),
      { tool_name: '{method}' },
    );
    expect(tools).toHaveLength(1);
    expect(leftOut[0]?.reason).toContain('the name of another one');
  });

  it.each<[string, Uint8Array, string]>([
    ['that is none', Buffer.from('nonsense'), 'FileDescriptorSet'],
    ['without a file', new Uint8Array(), 'without a file'],
    [
      'of a type that is nowhere',
      setOf({ name: 'a.proto', package: 'a', syntax: 'proto3', service: [service(['Go', '.a.M', '.a.M'])] }),
      'The type .a.M',
    ],
    [
      'of files that use each other',
      setOf(
        {
          name: 'a.proto',
          package: 'a',
          syntax: 'proto3',
          messageType: [{ name: 'M', field: [field('x', 1, { type: Type.MESSAGE, typeName: '.b.M' })] }],
        },
        {
          name: 'b.proto',
          package: 'b',
          syntax: 'proto3',
          messageType: [{ name: 'M', field: [field('x', 1, { type: Type.MESSAGE, typeName: '.a.M' })] }],
          service: [service(['Go', '.b.M', '.b.M'])],
        },
      ),
      'uses types of files that use its own',
    ],
  ])('%s is one clear problem', (_, set, problem) => {
    expect(converted(set).problem).toContain(problem);
  });

  it('does not say otherwise what everybody knows', () => {
    const own: Partial<FileDescriptorProto> = {
      name: 'google/protobuf/timestamp.proto',
      package: 'google.protobuf',
      syntax: 'proto3',
    };
    const { tools } = converted(
      setOf({ ...own, messageType: [{ name: 'Timestamp', field: [field('seconds', 1)] }] } as FileInit, {
        name: 'a.proto',
        package: 'a',
        syntax: 'proto3',
        messageType: [
          {
            name: 'M',
            field: [field('at', 1, { type: Type.MESSAGE, typeName: '.google.protobuf.Timestamp' })],
          },
        ],
        service: [service(['Go', '.a.M', '.a.M'])],
      }),
    );
    expect(tools[0]?.value['input_schema']).toMatchObject({
      properties: { at: { type: 'string', format: 'date-time' } },
    });
  });
});
