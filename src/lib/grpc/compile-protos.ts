// From .proto files to the descriptors that protoc would make of them, with what their comments say.
import { create } from '@bufbuild/protobuf';
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as FieldType,
  FileDescriptorProtoSchema,
  MethodOptions_IdempotencyLevel as Idempotency,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';
import type { Described } from './descriptor-set.ts';
import { parsed, readProtoSources, type ProtoSource } from './proto-sources.ts';

type FileInit = Parameters<typeof create<typeof FileDescriptorProtoSchema>>[1] & object;
type MessageInit = NonNullable<FileInit['messageType']>[number];
type EnumInit = NonNullable<FileInit['enumType']>[number];
type ServiceInit = NonNullable<FileInit['service']>[number];
type FieldInit = NonNullable<MessageInit['field']>[number];

const SCALARS: { readonly [name: string]: FieldType } = {
  double: FieldType.DOUBLE,
  float: FieldType.FLOAT,
  int64: FieldType.INT64,
  uint64: FieldType.UINT64,
  int32: FieldType.INT32,
  fixed64: FieldType.FIXED64,
  fixed32: FieldType.FIXED32,
  bool: FieldType.BOOL,
  string: FieldType.STRING,
  bytes: FieldType.BYTES,
  uint32: FieldType.UINT32,
  sfixed32: FieldType.SFIXED32,
  sfixed64: FieldType.SFIXED64,
  sint32: FieldType.SINT32,
  sint64: FieldType.SINT64,
};

/** Throws Error with a sentence for the operator: file and line, or the type that is missing. */
export function compileProtos(files: readonly string[], importPaths: readonly string[]): Described {
  const { files: sources, missing } = readProtoSources(files, importPaths);
  const root = new protobuf.Root();
  for (const { imports } of sources)
    for (const name of imports) {
      const known = protobuf.common.get(name);
      if (known?.nested !== undefined) root.addJSON(known.nested);
    }
  const owners = new Map<protobuf.ReflectionObject, string>(objectsIn(root).map((each) => [each, '']));
  const packages = new Map<string, string>();
  for (const { name, text } of sources) {
    packages.set(name, parsed(name, text, root).package ?? '');
    for (const each of objectsIn(root)) if (!owners.has(each)) owners.set(each, name);
  }
  try {
    root.resolveAll();
  } catch (error) {
    const hint =
      missing.length === 0
        ? ''
        : ` These imports are in none of import_paths: ${missing.slice(0, 20).join(', ')}.`;
    throw new Error(`protos: ${(error as Error).message}.${hint}`, { cause: error });
  }
  const own = (name: string) => [...owners].filter(([, owner]) => owner === name).map(([each]) => each);
  return {
    files: sources.map((source) => fileOf(source, packages.get(source.name) ?? '', own(source.name))),
    comments: new Map(sources.flatMap(({ name }) => own(name).flatMap((each) => [...commentsOf(each)]))),
  };
}

/** What stands in a package; packages themselves are of no file. */
function objectsIn(scope: protobuf.NamespaceBase): readonly protobuf.ReflectionObject[] {
  return scope.nestedArray.flatMap((each) =>
    each instanceof protobuf.Namespace &&
    !(each instanceof protobuf.Type) &&
    !(each instanceof protobuf.Service)
      ? objectsIn(each)
      : [each],
  );
}

function fileOf(
  { name, text }: ProtoSource,
  packageName: string,
  own: readonly protobuf.ReflectionObject[],
): FileDescriptorProto {
  const syntax = syntaxOf(name, text);
  const types = own.filter((each) => each instanceof protobuf.Type);
  const enums = own.filter((each) => each instanceof protobuf.Enum);
  const services = own.filter((each) => each instanceof protobuf.Service);
  return create(FileDescriptorProtoSchema, {
    name,
    package: packageName,
    syntax,
    messageType: types.map((each) => messageOf(each, syntax)),
    enumType: enums.map(enumOf),
    service: services.map(serviceOf),
  });
}

function syntaxOf(name: string, text: string): string {
  const bare = text.replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  const [, word, said = 'proto2'] = /^\s*(syntax|edition)\s*=\s*["']([^"']+)["']/.exec(bare) ?? [];
  if (word === 'edition')
    throw new Error(
      `protos: ${name} is of edition ${said}: compile it, and name the result as descriptor_set.`,
    );
  return said;
}

function messageOf(type: protobuf.Type, syntax: string): MessageInit {
  const real = type.oneofsArray.filter((each) => !isSynthetic(each));
  const oneofs = [...real, ...type.oneofsArray.filter(isSynthetic)];
  const maps = type.fieldsArray.flatMap((field) => (isMapField(field) ? [field] : []));
  const nested = type.nestedArray.filter((each) => each instanceof protobuf.Type);
  return {
    name: type.name,
    field: type.fieldsArray.map((field) => fieldOf(field, oneofs)),
    oneofDecl: oneofs.map(({ name }) => ({ name })),
    nestedType: [...nested.map((each) => messageOf(each, syntax)), ...maps.map(entryOf)],
    enumType: type.nestedArray.filter((each) => each instanceof protobuf.Enum).map(enumOf),
  };
}

function isSynthetic({ fieldsArray, name }: protobuf.OneOf): boolean {
  const [only] = fieldsArray;
  return fieldsArray.length === 1 && only !== undefined && name === `_${only.name}` && isOptional(only);
}

function isOptional({ options }: protobuf.Field): boolean {
  return options?.['proto3_optional'] === true;
}

function fieldOf(field: protobuf.Field, oneofs: readonly protobuf.OneOf[]): FieldInit {
  const oneof = field.partOf === null ? -1 : oneofs.indexOf(field.partOf);
  const isMap = isMapField(field);
  const said: unknown = field.options?.['json_name'];
  const packed: unknown = field.options?.['packed'];
  return {
    name: field.name,
    number: field.id,
    label: field.repeated || isMap ? Label.REPEATED : field.required ? Label.REQUIRED : Label.OPTIONAL,
    ...(isMap
      ? { type: FieldType.MESSAGE, typeName: `${field.parent?.fullName ?? ''}.${entryName(field)}` }
      : typeOf(field.type, field.resolvedType, (field as { delimited?: boolean }).delimited === true)),
    jsonName: typeof said === 'string' ? said : protoCamelCase(field.name),
    ...(oneof >= 0 && { oneofIndex: oneof }),
    ...(isOptional(field) && { proto3Optional: true }),
    options: {
      ...(field.options?.['deprecated'] === true && { deprecated: true }),
      ...(typeof packed === 'boolean' && { packed }),
    },
  };
}

function typeOf(
  name: string,
  resolved: protobuf.ReflectionObject | null,
  isGroup: boolean,
): Pick<FieldInit, 'type' | 'typeName'> {
  if (resolved === null) return { type: SCALARS[name] ?? FieldType.STRING };
  const type =
    resolved instanceof protobuf.Enum ? FieldType.ENUM : isGroup ? FieldType.GROUP : FieldType.MESSAGE;
  return { type, typeName: resolved.fullName };
}

/** Its type does not say that it is a field, too. */
function isMapField(field: protobuf.FieldBase): field is protobuf.MapField {
  return field instanceof protobuf.MapField;
}

function entryName({ name }: Pick<protobuf.FieldBase, 'name'>): string {
  const camel = protoCamelCase(name);
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`;
}

function entryOf(field: protobuf.MapField): MessageInit {
  return {
    name: entryName(field),
    field: [
      {
        name: 'key',
        jsonName: 'key',
        number: 1,
        label: Label.OPTIONAL,
        ...typeOf(field.keyType, null, false),
      },
      {
        name: 'value',
        jsonName: 'value',
        number: 2,
        label: Label.OPTIONAL,
        ...typeOf(field.type, field.resolvedType, false),
      },
    ],
    options: { mapEntry: true },
  };
}

function enumOf({ name, values, options }: protobuf.Enum): EnumInit {
  return {
    name,
    value: Object.entries(values).map(([each, number]) => ({ name: each, number })),
    options: { ...(options?.['allow_alias'] === true && { allowAlias: true }) },
  };
}

const IDEMPOTENCY: { readonly [name: string]: Idempotency } = {
  NO_SIDE_EFFECTS: Idempotency.NO_SIDE_EFFECTS,
  IDEMPOTENT: Idempotency.IDEMPOTENT,
};

function serviceOf(service: protobuf.Service): ServiceInit {
  return {
    name: service.name,
    method: service.methodsArray.map((method) => {
      method.resolve();
      const level = IDEMPOTENCY[String(method.options?.['idempotency_level'])];
      return {
        name: method.name,
        inputType: method.resolvedRequestType?.fullName ?? '',
        outputType: method.resolvedResponseType?.fullName ?? '',
        clientStreaming: method.requestStream === true,
        serverStreaming: method.responseStream === true,
        options: {
          ...(level !== undefined && { idempotencyLevel: level }),
          ...(method.options?.['deprecated'] === true && { deprecated: true }),
        },
      };
    }),
  };
}

function* commentsOf(each: protobuf.ReflectionObject): Generator<[string, string]> {
  if (typeof each.comment === 'string' && each.comment !== '') yield [each.fullName.slice(1), each.comment];
  if (each instanceof protobuf.Type) {
    for (const field of each.fieldsArray) yield* commentsOf(field);
    for (const nested of each.nestedArray) yield* commentsOf(nested);
  } else if (each instanceof protobuf.Service)
    for (const method of each.methodsArray) yield* commentsOf(method);
  else if (each instanceof protobuf.Enum)
    for (const [name, comment] of Object.entries(each.comments))
      if (typeof comment === 'string') yield [`${each.fullName.slice(1)}.${name}`, comment];
}
