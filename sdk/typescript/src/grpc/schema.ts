// The gateway's protocol, as @grpc/grpc-js uses it: from the descriptors of its .proto files, which are part of the package.
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer, type MessageTypeDefinition } from '@grpc/proto-loader';
import { DESCRIPTORS } from '../generated/descriptors.ts';

export type Fields = Readonly<Record<string, unknown>>;

const definition = loadFileDescriptorSetFromBuffer(Buffer.from(DESCRIPTORS, 'base64'), {
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
});
const service = definition['unified_tool_executor.v1.ToolExecutorService'] as ServiceDefinition;

export const EXECUTE = service['Execute'] as MethodDefinition<object, Fields>;
export const CONVERSE = service['Converse'] as MethodDefinition<object, Fields>;

/** A message by its full name, or undefined where the package does not know it. */
export function decoded(name: string, bytes: Buffer): Fields | undefined {
  const type = definition[name] as MessageTypeDefinition<object, Fields> | undefined;
  return type?.deserialize?.(bytes);
}

/** A field of type map: read from descriptors, it is a list of its entries. */
export function entriesOf<Value>(map: unknown): [string, Value][] {
  const entries = (map ?? []) as readonly { readonly key: string; readonly value: Value }[];
  return entries.map(({ key, value }) => [key, value]);
}

/** A google.protobuf.Struct as the object that it stands for. */
export function objectOf(struct: unknown): Record<string, unknown> {
  const { fields } = (struct ?? {}) as { readonly fields?: unknown };
  return Object.fromEntries(entriesOf<Fields>(fields).map(([name, value]) => [name, valueOf(value)]));
}

function valueOf(value: Fields): unknown {
  const kind = String(value['kind']);
  const held = value[kind];
  if (kind === 'struct_value') return objectOf(held);
  if (kind === 'list_value') return ((held as { values?: Fields[] }).values ?? []).map(valueOf);
  return kind === 'null_value' ? null : (held ?? null);
}
