// Files of descriptors as a registry takes them: each behind those whose types it uses, whatever it says that it imports. Some
// servers say nothing of it, or put the types that everybody knows into files of their own.
import { create } from '@bufbuild/protobuf';
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FileDescriptorProtoSchema,
  type DescriptorProto,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';

const OWN: readonly FileDescriptorProto[] = [
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
].map(({ proto }) => proto);

const OWN_TYPES: ReadonlyMap<string, FileDescriptorProto> = new Map(
  OWN.flatMap((file) => typesIn(file).map((name) => [name, file] as const)),
);

/** Throws Error: a type that is nowhere, or files that use each other's. */
export function inOrder(given: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const files = given.map(withoutKnown);
  const owners = new Map(OWN_TYPES);
  for (const file of files) for (const name of typesIn(file)) owners.set(name, file);
  const ordered: FileDescriptorProto[] = [];
  const states = new Map<FileDescriptorProto, 'open' | 'done'>();
  const add = (file: FileDescriptorProto): void => {
    if (states.get(file) === 'done') return;
    if (states.get(file) === 'open')
      throw new Error(`The file ${file.name} uses types of files that use its own.`);
    states.set(file, 'open');
    const used = OWN.includes(file) ? new Set<FileDescriptorProto>() : usedBy(file, owners);
    for (const each of used) add(each);
    states.set(file, 'done');
    if (!OWN.includes(file)) file.dependency = [...used].map(({ name }) => name);
    ordered.push(file);
  };
  for (const file of files) add(file);
  return ordered;
}

/** Without what is known here, and without extensions, which stand in no JSON. */
function withoutKnown(file: FileDescriptorProto): FileDescriptorProto {
  const prefix = prefixOf(file);
  const isOther = ({ name }: { readonly name: string }) => !OWN_TYPES.has(prefix + name);
  return create(FileDescriptorProtoSchema, {
    ...file,
    messageType: file.messageType.filter(isOther).map(plain),
    enumType: file.enumType.filter(isOther),
    extension: [],
    publicDependency: [],
    weakDependency: [],
    optionDependency: [],
  });
}

function plain(message: DescriptorProto): DescriptorProto {
  // Compilers leave the name in JSON out where it follows from the name.
  for (const field of message.field) if (field.jsonName === '') field.jsonName = protoCamelCase(field.name);
  message.extension = [];
  message.nestedType = message.nestedType.map(plain);
  return message;
}

/** Names in full what the file names by less, as some compilers write it. */
function usedBy(
  file: FileDescriptorProto,
  owners: ReadonlyMap<string, FileDescriptorProto>,
): Set<FileDescriptorProto> {
  const used = new Set<FileDescriptorProto>();
  const use = (type: string, scope: string, by: string): string => {
    const found = inScope(type, scope).find((name) => owners.has(name));
    const owner = owners.get(found ?? '');
    if (owner === undefined)
      throw new Error(`The type ${type}, which ${by} is of, is not there: include what it imports.`);
    if (owner !== file) used.add(owner);
    return `.${found}`;
  };
  const walk = (message: DescriptorProto, prefix: string): void => {
    const full = prefix + message.name;
    for (const field of message.field)
      if (field.typeName !== '') field.typeName = use(field.typeName, full, `${full}.${field.name}`);
    for (const each of message.nestedType) walk(each, `${full}.`);
  };
  const prefix = prefixOf(file);
  for (const message of file.messageType) walk(message, prefix);
  for (const service of file.service)
    for (const method of service.method) {
      const by = `${prefix}${service.name}/${method.name}`;
      method.inputType = use(method.inputType, file.package, by);
      method.outputType = use(method.outputType, file.package, by);
    }
  return used;
}

/** What a name may stand for, the innermost first. */
function inScope(type: string, scope: string): readonly string[] {
  if (type.startsWith('.')) return [type.slice(1)];
  const names: string[] = [];
  for (let at = scope; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.'))))
    names.push(`${at}.${type}`);
  return [...names, type];
}

function typesIn(file: FileDescriptorProto): readonly string[] {
  const found: string[] = [];
  const walk = (message: DescriptorProto, prefix: string): void => {
    const full = prefix + message.name;
    found.push(full, ...message.enumType.map(({ name }) => `${full}.${name}`));
    for (const each of message.nestedType) walk(each, `${full}.`);
  };
  const prefix = prefixOf(file);
  for (const message of file.messageType) walk(message, prefix);
  return [...found, ...file.enumType.map(({ name }) => prefix + name)];
}

function prefixOf({ package: name }: FileDescriptorProto): string {
  return name === '' ? '' : `${name}.`;
}
