// Descriptors of services, wherever they come from: put into order, completed, and opened for calls.
import {
  create,
  createFileRegistry,
  fromBinary,
  toBinary,
  type DescMethod,
  type FileRegistry,
} from '@bufbuild/protobuf';
import {
  FileDescriptorSetSchema,
  type DescriptorProto,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';
import { inOrder } from './order-files.ts';

export interface Described {
  readonly files: readonly FileDescriptorProto[];
  /** What is said of services, methods, messages, fields and values, by their full name. */
  readonly comments: ReadonlyMap<string, string>;
}

/** Throws Error with a sentence for the operator. */
export function readDescriptorSet(bytes: Uint8Array): Described {
  try {
    const { file: files } = fromBinary(FileDescriptorSetSchema, bytes);
    if (files.length > 0) return { files, comments: commentsIn(files) };
  } catch (cause) {
    throw new Error('It is no FileDescriptorSet.', { cause });
  }
  throw new Error('It is a FileDescriptorSet without a file.');
}

/** Throws Error: an import or a type that is missing, names that are none. */
export function openDescriptors(files: readonly FileDescriptorProto[]): FileRegistry {
  return createFileRegistry(create(FileDescriptorSetSchema, { file: inOrder(files) }));
}

export function writeDescriptorSet(files: readonly FileDescriptorProto[]): Uint8Array {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: inOrder(files) }));
}

/** `package.Service/Method`. Throws Error with a sentence for the operator. */
export function methodIn(registry: FileRegistry, path: string): DescMethod {
  const [service = '', name = ''] = path.split('/');
  const found = registry.getService(service);
  if (found === undefined)
    throw new Error(`There is no service ${JSON.stringify(service)}${known(servicesIn(registry))}.`);
  const method = found.methods.find((each) => each.name === name);
  if (method === undefined)
    throw new Error(
      `The service ${service} has no method ${JSON.stringify(name)}${known(found.methods.map((each) => each.name))}.`,
    );
  if (method.methodKind === 'unary' || method.methodKind === 'server_streaming') return method;
  throw new Error(`The method ${path} takes a stream of messages, which a call cannot give.`);
}

export function servicesIn(registry: FileRegistry): readonly string[] {
  return [...registry].flatMap((each) => (each.kind === 'service' ? [each.typeName] : []));
}

function known(names: readonly string[]): string {
  return names.length === 0 ? '' : `; there are ${names.slice(0, 20).join(', ')}`;
}

const [PACKAGE_MESSAGES, PACKAGE_ENUMS, PACKAGE_SERVICES] = [4, 5, 6];
const [FIELDS, NESTED, ENUMS] = [2, 3, 4];
const MEMBERS = 2;

function commentsIn(files: readonly FileDescriptorProto[]): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  for (const file of files)
    for (const { path, leadingComments, trailingComments } of file.sourceCodeInfo?.location ?? []) {
      const text = leadingComments === '' ? trailingComments : leadingComments;
      const name = text === '' ? undefined : namedBy(file, path);
      if (name !== undefined) comments.set(name, text.trim());
    }
  return comments;
}

/** Which name a path of source info stands for. */
function namedBy(file: FileDescriptorProto, path: readonly number[]): string | undefined {
  const [kind, index = -1, ...rest] = path;
  const prefix = file.package === '' ? '' : `${file.package}.`;
  if (kind === PACKAGE_MESSAGES) return inMessage(file.messageType[index], prefix, rest);
  const container =
    kind === PACKAGE_ENUMS
      ? file.enumType[index]
      : kind === PACKAGE_SERVICES
        ? file.service[index]
        : undefined;
  if (container === undefined) return undefined;
  const members =
    container.$typeName === 'google.protobuf.EnumDescriptorProto' ? container.value : container.method;
  return inMembers(prefix + container.name, members, rest);
}

function inMessage(
  message: DescriptorProto | undefined,
  prefix: string,
  path: readonly number[],
): string | undefined {
  if (message === undefined) return undefined;
  const [kind, index = -1, ...rest] = path;
  const name = prefix + message.name;
  if (kind === undefined) return name;
  if (kind === NESTED) return inMessage(message.nestedType[index], `${name}.`, rest);
  if (kind === FIELDS && rest.length === 0) return inMembers(name, message.field, [MEMBERS, index]);
  const found = kind === ENUMS ? message.enumType[index] : undefined;
  return found === undefined ? undefined : inMembers(`${name}.${found.name}`, found.value, rest);
}

function inMembers(
  name: string,
  members: readonly { readonly name: string }[],
  path: readonly number[],
): string | undefined {
  const [kind, index = -1, ...rest] = path;
  if (kind === undefined) return name;
  const member = kind === MEMBERS && rest.length === 0 ? members[index] : undefined;
  return member === undefined ? undefined : `${name}.${member.name}`;
}
