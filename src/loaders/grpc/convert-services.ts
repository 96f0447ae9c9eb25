// From descriptors to declarations of grpc tools, and to what of the descriptors these tools need.
import { hash } from 'node:crypto';
import { create, type DescMethod, type FileRegistry } from '@bufbuild/protobuf';
import {
  FileDescriptorProtoSchema,
  MethodOptions_IdempotencyLevel as Idempotency,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';
import type { JsonObject } from '../../contract/json.ts';
import { openDescriptors, readDescriptorSet, writeDescriptorSet } from '../../lib/grpc/descriptor-set.ts';
import { lintSchema } from '../../lib/json-schema/lint/schema-linter.ts';
import { declaredBy, overrideFor, unusedOverrides } from '../../lib/overrides/tool-overrides.ts';
import { globMatcher } from '../../lib/text/glob.ts';
import { withoutHidden } from '../../lib/text/hidden-text.ts';
import { messageSchema } from './message-schema.ts';
import type { GrpcLoaderOptions } from './options.ts';
import { neededFiles } from './needed-files.ts';
import { Unusable } from './unusable.ts';

export interface Description {
  /** A FileDescriptorSet, which may be anything. */
  readonly set: Uint8Array;
  /** What is said of services, methods, messages, fields and values, by their full name. */
  readonly comments: ReadonlyMap<string, string>;
}

export interface ConvertRequest extends Description {
  readonly options: Omit<GrpcLoaderOptions, 'upstream'>;
}

export interface LeftOut {
  readonly method: string;
  readonly reason: string;
}

export interface Converted {
  readonly tools: readonly { readonly value: JsonObject; readonly contentHash: string }[];
  readonly leftOut: readonly LeftOut[];
  readonly unused: readonly string[];
  /** A FileDescriptorSet of what these tools need. */
  readonly set: Uint8Array;
  /** Nothing else counts where there is one. */
  readonly problem?: string;
}

const LONGEST_NAME = 128;
const LONGEST_DESCRIPTION = 500;
const LONGEST_DOCUMENTATION = 8_000;
const MOST_METHODS = 5_000;
const NOTHING = { tools: [], leftOut: [], unused: [], set: new Uint8Array() };

export function convertServices({ set, comments, options }: ConvertRequest): Converted {
  let registry: FileRegistry;
  let files: readonly FileDescriptorProto[];
  try {
    ({ files } = readDescriptorSet(set));
    registry = openDescriptors(files);
  } catch (error) {
    return { ...NOTHING, problem: (error as Error).message };
  }
  const methods = methodsIn(registry, options);
  if (methods.length === 0)
    return { ...NOTHING, problem: 'There is no method, or none that services, include and exclude ask for.' };
  if (methods.length > MOST_METHODS)
    return {
      ...NOTHING,
      problem: `There are more than ${MOST_METHODS} methods: say which under services or include.`,
    };
  const { kept, leftOut } = toolsOf(methods, comments, options);
  if (kept.length === 0 || (options.strict && leftOut.length > 0))
    return {
      ...NOTHING,
      leftOut,
      problem: `${leftOut
        .slice(0, 5)
        .map(({ method, reason }) => `The method ${method} ${reason}`)
        .join('; ')}.`,
    };
  const names = methods.map((method) => [toolName(method, options), pathOf(method)]);
  return {
    tools: kept.map(({ value }) => ({ value, contentHash: hash('sha256', JSON.stringify(value)) })),
    leftOut,
    unused: unusedOverrides(options.overrides, names),
    set: writeDescriptorSet(
      neededFiles(
        files,
        kept.map(({ method }) => method),
      ).map((file) => create(FileDescriptorProtoSchema, file)),
    ),
  };
}

interface Kept {
  readonly method: DescMethod;
  readonly value: JsonObject;
}

function toolsOf(
  methods: readonly DescMethod[],
  comments: ConvertRequest['comments'],
  options: ConvertRequest['options'],
) {
  const kept: Kept[] = [];
  const leftOut: LeftOut[] = [];
  const wanted = methods.map((method) => toolName(method, options));
  for (const [at, method] of methods.entries()) {
    const name = wanted[at] ?? '';
    const override = overrideFor(options.overrides, [name, pathOf(method)]);
    if (override.off === true) continue;
    try {
      if (wanted.indexOf(name) !== at)
        throw new Unusable(`has the name of another one: ${JSON.stringify(name)}`);
      kept.push({ method, value: toolOf(method, name, comments, options) });
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      leftOut.push({ method: pathOf(method), reason: error.message });
    }
  }
  return { kept, leftOut };
}

function methodsIn(
  registry: FileRegistry,
  { services, include, exclude }: ConvertRequest['options'],
): readonly DescMethod[] {
  const isService = globMatcher(services ?? ['*']);
  const isIncluded = globMatcher(include ?? ['*']);
  const isExcluded = globMatcher(exclude);
  return [...registry]
    .flatMap((each) => (each.kind === 'service' && isService(each.typeName) ? each.methods : []))
    .filter((method) => isIncluded(pathOf(method)) && !isExcluded(pathOf(method)));
}

/** `package.Service/Method` */
function pathOf({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}

function toolName(
  { parent, name }: DescMethod,
  { name: own, prefix = `${own}.`, tool_name: template }: ConvertRequest['options'],
): string {
  const values: { readonly [name: string]: string } = {
    package: parent.file.proto.package,
    service: parent.name,
    method: name,
  };
  const made = template.replaceAll(/\{(package|service|method)\}/g, (_, each: string) => values[each] ?? '');
  return `${prefix}${made}`.slice(0, LONGEST_NAME);
}

/** Throws Unusable. */
function toolOf(
  method: DescMethod,
  name: string,
  comments: ConvertRequest['comments'],
  options: ConvertRequest['options'],
): JsonObject {
  if (method.methodKind !== 'unary' && method.methodKind !== 'server_streaming')
    throw new Unusable('takes a stream of messages, which a call cannot give');
  const said = (full: string, most = LONGEST_DESCRIPTION) => {
    const text = comments.get(full);
    const clean =
      text === undefined ? '' : withoutHidden(text.slice(0, 2 * LONGEST_DOCUMENTATION)).text.trim();
    return clean === '' ? undefined : clean.slice(0, most).toWellFormed();
  };
  const full = `${method.parent.typeName}.${method.name}`;
  const inputSchema = linted(messageSchema(method.input, { said, of: 'arguments' }));
  const outputSchema = outputOf(method, said);
  const override = overrideFor(options.overrides, [name, pathOf(method)]);
  const declared = declaredBy(override);
  const [paragraph = ''] = (said(full, LONGEST_DOCUMENTATION) ?? '').split(/\n\s*\n/, 1);
  const old = method.deprecated ? ' (deprecated)' : '';
  const isIdempotent = override.idempotent ?? method.idempotency !== Idempotency.IDEMPOTENCY_UNKNOWN;
  return {
    name,
    description:
      (paragraph.slice(0, LONGEST_DESCRIPTION) || `${method.name} of ${method.parent.typeName}`) + old,
    tool_type: 'grpc',
    input_schema: inputSchema,
    ...(outputSchema !== undefined && { output_schema: outputSchema }),
    implementation_config: {
      connection: options.name,
      method: pathOf(method),
      ...(options.max_messages !== undefined && { max_messages: options.max_messages }),
      ...(options.defaults !== undefined && { defaults: options.defaults }),
      ...(options.max_response_bytes !== undefined && { max_response_bytes: options.max_response_bytes }),
    },
    metadata: {
      ...metadataOf(method, isIdempotent, options),
      ...toldAt(paragraph, said(full, LONGEST_DOCUMENTATION)),
      ...declared.metadata,
    },
    ...(isIdempotent && { retries: { max_attempts: 3 } }),
    ...(options.timeout_ms !== undefined && { timeout_ms: options.timeout_ms }),
    ...declared.fields,
  };
}

/** What its options say: nothing, most often, and then nobody knows what it does. */
function metadataOf(
  { idempotency }: DescMethod,
  isIdempotent: boolean,
  options: ConvertRequest['options'],
): JsonObject {
  const reads = idempotency === Idempotency.NO_SIDE_EFFECTS;
  return {
    category: reads ? 'retrieval' : 'action',
    read_only: reads,
    idempotent: isIdempotent,
    risk_level: reads ? 'low' : options.risk_level,
    tags: [...options.tags],
    permissions: [...options.permissions],
  };
}

function toldAt(paragraph: string, whole = ''): JsonObject {
  return paragraph.length < whole.length ? { documentation: whole } : {};
}

/** A result that no schema can say is not checked. */
function outputOf(method: DescMethod, said: (full: string) => string | undefined): JsonObject | undefined {
  try {
    const message = messageSchema(method.output, { said, of: 'result' });
    const { $defs, ...own } = message;
    const schema =
      method.methodKind === 'unary'
        ? message
        : {
            type: 'object',
            properties: { messages: { type: 'array', items: own }, complete: { type: 'boolean' } },
            required: ['messages', 'complete'],
            ...($defs !== undefined && { $defs }),
          };
    return schema['type'] === 'object' ? linted(schema) : undefined;
  } catch (error) {
    if (error instanceof Unusable) return undefined;
    throw error;
  }
}

function linted(schema: JsonObject): JsonObject {
  const [problem] = lintSchema(schema);
  if (problem === undefined) return schema;
  throw new Unusable(
    `has a schema that cannot be checked safely: ${problem.path.join('.')} ${problem.message}`,
  );
}
