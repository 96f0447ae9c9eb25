// The schema of a form: which of its members are files, and how each member is written.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../../contract/json.ts';
import type { OpenApiOptions } from '../options.ts';

type FormOptions = Pick<OpenApiOptions, 'deep_lists' | 'file_urls'>;

/** A file as an argument: base64, or by URL where the operator lets files be fetched. */
export function fileSchema({ description }: JsonSchema, { file_urls: urls }: FormOptions): JsonSchema {
  const inBase64: JsonSchema = { type: 'string', description: 'The content of the file in base64.' };
  const url: JsonSchema = {
    type: 'string',
    description: 'Where the file is fetched from, in place of base64.',
  };
  const asObject: JsonSchema = {
    type: 'object',
    properties: {
      base64: inBase64,
      ...(urls !== undefined && { url }),
      filename: { type: 'string' },
      content_type: { type: 'string', description: 'Such as image/png.' },
    },
    ...(urls === undefined && { required: ['base64'] }),
    additionalProperties: false,
  };
  const schema: JsonSchema = { anyOf: [inBase64, asObject] };
  return typeof description === 'string' ? { description, ...schema } : schema;
}

/** `converted`: from the document, its references written out. */
export function formSchema(
  converted: JsonSchema,
  as: 'form' | 'multipart',
  { encoding }: JsonObject,
  options: FormOptions,
): { readonly schema: JsonSchema; readonly parts: JsonObject | undefined } {
  const rules = new Map<string, JsonObject>();
  const told = isJsonObject(encoding) ? encoding : {};
  for (const [name, said] of Object.entries(told)) {
    const rule = isJsonObject(said) ? ruleOf(said, as, options) : undefined;
    if (rule !== undefined) rules.set(name, rule);
  }
  const schema = as === 'form' ? converted : withFiles(converted, rules, options, 0);
  const isObject =
    schema['type'] === undefined &&
    !('properties' in schema) &&
    !('allOf' in schema) &&
    !('anyOf' in schema) &&
    !('oneOf' in schema);
  return {
    schema: isObject ? { ...schema, type: 'object' } : schema,
    parts: rules.size === 0 ? undefined : Object.fromEntries(rules),
  };
}

function ruleOf(
  { style, explode, contentType }: JsonObject,
  as: 'form' | 'multipart',
  { deep_lists: lists }: FormOptions,
): JsonObject | undefined {
  const type = typeof contentType === 'string' ? (contentType.split(',', 1)[0] ?? '').trim() : '';
  const isType = /^[\x21-\x7e][\x20-\x7e]{0,199}$/.test(type) && !type.includes('*');
  if (as === 'multipart') return isType ? { content_type: type } : undefined;
  if (typeof style === 'string' && /^(?:form|spaceDelimited|pipeDelimited|deepObject)$/.test(style))
    return {
      style,
      ...(typeof explode === 'boolean' && style !== 'deepObject' && { explode }),
      ...(style === 'deepObject' && lists !== undefined && { lists }),
    };
  if (typeof explode === 'boolean') return { style: 'form', explode };
  return /[/+]json$/i.test(type) ? { style: 'json' } : undefined;
}

/** What is combined says of the same form. */
function withFiles(
  schema: JsonSchema,
  rules: Map<string, JsonObject>,
  options: FormOptions,
  depth: number,
): JsonSchema {
  const out: Record<string, JsonValue> = { ...schema };
  const { properties } = schema;
  if (isJsonObject(properties)) {
    out['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, member]) => {
        const file = fileMember(member, options);
        if (file === undefined) return [name, member];
        rules.set(name, { ...rules.get(name), file: true });
        return [name, file];
      }),
    );
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const all = schema[keyword];
    if (depth < 4 && Array.isArray(all))
      out[keyword] = all.map((each) =>
        isJsonObject(each) ? withFiles(each, rules, options, depth + 1) : each,
      );
  }
  return out;
}

function fileMember(member: JsonValue | undefined, options: FormOptions): JsonSchema | undefined {
  if (!isJsonObject(member)) return undefined;
  if (isFile(member)) return fileSchema(member, options);
  const { items } = member;
  return isJsonObject(items) && isFile(items) ? { ...member, items: fileSchema(items, options) } : undefined;
}

function isFile({ type, format, contentMediaType: media }: JsonSchema): boolean {
  const isText = type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'));
  if (!isText) return false;
  return (
    format === 'binary' || format === 'byte' || (typeof media === 'string' && !/^text\/|json/.test(media))
  );
}
