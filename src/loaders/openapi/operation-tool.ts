// From one operation to the declaration of an http tool, or to the reason why it cannot be one.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { lintSchema } from '../../lib/json-schema/lint/schema-linter.ts';
import { declaredBy, overrideFor, type ToolOverride } from '../../lib/overrides/tool-overrides.ts';
import { Arguments } from './arguments.ts';
import { baseOf } from './base-url.ts';
import { SchemaConverter, TooLarge } from './convert-schema.ts';
import { namesOf, type Operation } from './document/list-operations.ts';
import { METHODS, type OpenApiOptions } from './options.ts';
import { addParameters, type RequestParts } from './parameters.ts';
import { pathTemplate, sentPath } from './path-template.ts';
import { plainText } from './plain-text.ts';
import { addBody, type RequestBody } from './body/request-body.ts';
import { shown, Unusable } from './unusable.ts';

export interface ToolNeeds {
  readonly root: JsonObject;
  readonly documentUrl: string | undefined;
  readonly options: OpenApiOptions;
}

export interface OperationTool {
  readonly value: JsonObject;
  /** The schema was cut to fit: what lies deeper is not checked here. */
  readonly isCut: boolean;
  readonly note: string | undefined;
}

const MOST_NODES = 2_000;
/** The first that gives a schema within the gateway's limits is taken. */
const DEPTHS = [16, 8, 5, 3] as const;
const LONGEST_DESCRIPTION = 500;
const LONGEST_DOCUMENTATION = 8_000;

/** Throws Unusable. */
export function toolOf(operation: Operation, name: string, needs: ToolNeeds): OperationTool {
  if (!METHODS.some((method) => method === operation.method))
    throw new Unusable(`has the method ${operation.method}, which http tools do not`);
  const { root, documentUrl, options } = needs;
  const { base_url: baseUrl, connection, allow_ports: allowPorts = [] } = options;
  const base = baseOf(operation, { root, documentUrl, baseUrl, connection, allowPorts });
  let refused = new Unusable('has no schema');
  for (const [index, depth] of DEPTHS.entries()) {
    try {
      const { value, note } = atDepth(operation, name, base, depth, needs);
      refuseUndeclarable(value, 0);
      return { value, isCut: index > 0, note };
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      refused = error;
    }
  }
  throw new Unusable(refused.message);
}

function atDepth(
  operation: Operation,
  name: string,
  base: string | undefined,
  depth: number,
  { root, options }: ToolNeeds,
): { value: JsonObject; note: string | undefined } {
  const converter = new SchemaConverter(root, { depth, nodes: MOST_NODES });
  const args = new Arguments();
  const needs = {
    root,
    converter,
    args,
    omitted: options.omit_parameters,
    path: sentPath(operation.path),
    options,
  };
  const parts = addParameters(operation, needs);
  const body = addBody(operation, needs);
  const inputSchema = args.inputSchema();
  const [problem] = lintSchema(inputSchema);
  if (problem !== undefined) {
    const at = problem.path.length === 0 ? 'its arguments' : shown(problem.path.join('.'));
    throw new TooLarge(`has a schema that cannot be checked safely: ${at} ${problem.message}`);
  }
  const override = overrideFor(options.overrides, [name, ...namesOf(operation)]);
  const said = declaredBy(override);
  const value: JsonObject = {
    name,
    ...textsOf(operation),
    tool_type: 'http',
    input_schema: inputSchema,
    implementation_config: requestOf(operation, base, parts, body, options),
    metadata: { ...metadataOf(operation, override, options), ...said.metadata },
    ...(options.timeout_ms !== undefined && { timeout_ms: options.timeout_ms }),
    ...said.fields,
  };
  return { value, note: body.note };
}

function textsOf({ value, method, path }: Operation): { readonly description: string } {
  const { summary, description } = value;
  const [text = `${method} ${path}`] = [summary, description].flatMap((each) =>
    typeof each === 'string' && /\S/.test(each) ? [plainText(each).trim()] : [],
  );
  const [paragraph = text] = text.split(/\n\s*\n/, 1);
  const deprecated = value['deprecated'] === true ? ' (deprecated)' : '';
  return { description: paragraph.slice(0, LONGEST_DESCRIPTION).toWellFormed() + deprecated };
}

function metadataOf(
  { method, value, tags }: Operation,
  { read_only: saidToRead }: ToolOverride,
  { permissions }: OpenApiOptions,
): JsonObject {
  const reads = saidToRead ?? (method === 'GET' || method === 'HEAD');
  const { description } = value;
  const isTold = typeof description === 'string' && /\S/.test(description);
  return {
    category: reads ? 'retrieval' : 'action',
    read_only: reads,
    idempotent: reads || method === 'GET' || method === 'HEAD' || method === 'PUT' || method === 'DELETE',
    // What is deleted does not come back: a human has the last word, unless the operator says otherwise.
    ...(method === 'DELETE' && !reads && { risk_level: 'high' }),
    tags: [...tags],
    permissions: [...permissions],
    ...(isTold && {
      documentation: plainText(description).trim().slice(0, LONGEST_DOCUMENTATION).toWellFormed(),
    }),
  };
}

function requestOf(
  operation: Operation,
  base: string | undefined,
  parts: RequestParts,
  { body, contentType, as: kind, parts: bodyParts }: RequestBody,
  options: OpenApiOptions,
): JsonObject {
  const { connection, allow_private: ranges, allow_ports: ports } = options;
  const path = pathTemplate(operation.path, base, parts.path);
  const headers = [
    ...parts.headers,
    ...(contentType === undefined ? [] : ([['Content-Type', contentType]] as const)),
  ];
  return {
    ...(base === undefined ? { connection: connection ?? '', path } : { url: base + path }),
    method: operation.method,
    ...(parts.query.length > 0 && { query: Object.fromEntries(parts.query) }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(parts.pathStyles.length > 0 && { path_arguments: Object.fromEntries(parts.pathStyles) }),
    ...(parts.headerArguments.length > 0 && { header_arguments: Object.fromEntries(parts.headerArguments) }),
    ...(parts.cookies.length > 0 && { cookies: Object.fromEntries(parts.cookies) }),
    ...(body !== undefined && { body }),
    ...(kind !== undefined && { body_as: kind }),
    ...(bodyParts !== undefined && { body_parts: bodyParts }),
    ...(options.path_slashes !== undefined && parts.path.size > 0 && { path_slashes: options.path_slashes }),
    ...(hasFiles(kind, bodyParts) && options.file_urls !== undefined && { file_urls: options.file_urls }),
    ...(ports !== undefined && { allow_ports: [...ports] }),
    ...(ranges !== undefined && { allow_private: [...ranges] }),
  };
}

function hasFiles(kind: RequestBody['as'], parts: RequestBody['parts']): boolean {
  return (
    kind === 'file' || Object.values(parts ?? {}).some((part) => isJsonObject(part) && part['file'] === true)
  );
}

/** What no declaration may hold, so that one operation does not have the whole set refused. */
function refuseUndeclarable(value: JsonValue, depth: number): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Unusable('holds a number without an end');
  if (typeof value === 'string') refuseText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) throw new TooLarge(`is nested deeper than ${MAX_DEPTH} levels`);
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw new Unusable('has something called "__proto__"');
    refuseText(key);
    refuseUndeclarable(member, depth + 1);
  }
}

const MAX_DEPTH = 60;

function refuseText(text: string): void {
  if (!text.isWellFormed()) throw new Unusable('holds half of a surrogate pair');
  if (/\$\{(?:env|file):/.test(text))
    throw new Unusable('holds a reference such as ${env:…}, which belongs in connections');
}
