// What of descriptors some methods need: their messages, and whatever these hold. A million other fields are nobody's.
import type { DescEnum, DescMessage, DescMethod } from '@bufbuild/protobuf';
import type { DescriptorProto, FileDescriptorProto } from '@bufbuild/protobuf/wkt';

export function neededFiles(
  files: readonly FileDescriptorProto[],
  methods: readonly DescMethod[],
): readonly FileDescriptorProto[] {
  const needed = neededNames(methods);
  const cut = files.map((file) => {
    const prefix = file.package === '' ? '' : `${file.package}.`;
    return {
      ...file,
      messageType: neededMessages(file.messageType, prefix, needed),
      enumType: file.enumType.filter(({ name }) => needed.has(prefix + name)),
      service: file.service.flatMap((service) => {
        const kept = service.method.filter(({ name }) => needed.has(`${prefix}${service.name}/${name}`));
        return kept.length === 0 ? [] : [{ ...service, method: kept }];
      }),
      extension: [],
      options: undefined,
      sourceCodeInfo: undefined,
    };
  });
  return cut.filter((file) => file.messageType.length + file.enumType.length + file.service.length > 0);
}

/** Full names of messages and enums, and paths of methods. */
function neededNames(methods: readonly DescMethod[]): ReadonlySet<string> {
  const names = new Set<string>();
  const waiting: (DescMessage | DescEnum)[] = [];
  const add = (desc: DescMessage | DescEnum | undefined): void => {
    if (desc === undefined || names.has(desc.typeName)) return;
    names.add(desc.typeName);
    waiting.push(desc);
  };
  for (const method of methods) {
    names.add(`${method.parent.typeName}/${method.name}`);
    add(method.input);
    add(method.output);
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind !== 'message') continue;
    for (const { message, enum: values } of next.fields) {
      add(message);
      add(values);
    }
  }
  return names;
}

/** One that is not needed itself stays, without fields, around those that are. */
function neededMessages(
  messages: readonly DescriptorProto[],
  prefix: string,
  needed: ReadonlySet<string>,
): DescriptorProto[] {
  return messages.flatMap((message) => {
    const full = prefix + message.name;
    const isNeeded = needed.has(full);
    const entries = message.nestedType.filter(({ options }) => options?.mapEntry === true);
    const nested = neededMessages(
      message.nestedType.filter(({ options }) => options?.mapEntry !== true),
      `${full}.`,
      needed,
    );
    const enums = message.enumType.filter(({ name }) => needed.has(`${full}.${name}`));
    if (!isNeeded && nested.length + enums.length === 0) return [];
    return [
      {
        ...message,
        field: isNeeded ? message.field : [],
        oneofDecl: isNeeded ? message.oneofDecl : [],
        nestedType: [...nested, ...(isNeeded ? entries : [])],
        enumType: enums,
        extension: [],
      },
    ];
  });
}
