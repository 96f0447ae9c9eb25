// Every operation of a document, sent by its tool with sample values to a client that keeps it, and encoded a second time.
import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import type { LoadedTools } from '../../src/contract/tool/loaded-tools.ts';
import { functionsOf } from '../../src/contract/tool/tool-function.ts';
import { httpExecutor } from '../../src/executors/http/index.ts';
import type { HttpOptions } from '../../src/executors/http/options-schema.ts';
import { specRules } from '../../src/app/gateway/registry-rules.ts';
import { validateLoaded } from '../../src/registry/checks/spec-validation.ts';
import type { HttpRequest } from '../../src/ports/egress/http-client.ts';
import { encodeRequest, type EncodedRequest } from '../corpus/encode-request.ts';
import { RawDocument, type RawOperation } from '../corpus/raw-document.ts';
import { callOf } from './call-kit.ts';
import { realClock } from './python-ports.ts';

export interface Agreement {
  readonly compared: number;
  /** Operations whose two encodings differ. */
  readonly differing: readonly {
    readonly operation: string;
    readonly ours: unknown;
    readonly theirs: unknown;
  }[];
}

/** `loaded`: of that document, with servers or a `base_url` that have no path. */
export async function agreementOn(file: string, loaded: LoadedTools): Promise<Agreement> {
  const document = new RawDocument(JSON.parse(readFileSync(file, 'utf8')) as JsonObject);
  const raw = new Map(
    document.operations().map((operation) => [`${operation.method} ${operation.path}`, operation]),
  );
  let sent: HttpRequest | undefined;
  const http = {
    request: async (request: HttpRequest) => {
      sent = request;
      return { status: 200, headers: {}, body: Buffer.alloc(0) };
    },
    fetch: () => () => Promise.reject(new Error('nothing is fetched')),
    close: async () => {},
  };
  const executor = httpExecutor.create({
    http,
    clock: realClock,
    settings: { allowPrivate: [], allowPorts: [] },
  });
  const differing: { operation: string; ours: unknown; theirs: unknown }[] = [];
  let compared = 0;
  for (const { spec, options } of validateLoaded([{ ...loaded, problems: [] }], specRules()).tools) {
    const [fn] = functionsOf(spec);
    const config = options as HttpOptions;
    const operation = raw.get(`${config.method ?? 'GET'} ${rawPathOf(config, raw)}`);
    if (fn === undefined || operation === undefined) throw new Error(`${spec.name} is of no operation`);
    const { args, expected } = samplesOf(operation, config, document);
    const prepared = await executor.prepare({ function: fn, options: config });
    await prepared.execute(callOf({ arguments: args }), () => {});
    const ours = sent && readRequest(sent, expected);
    compared += 1;
    if (JSON.stringify(ours) !== JSON.stringify(expected))
      differing.push({ operation: spec.name, ours, theirs: expected });
  }
  return { compared, differing };
}

/** The tool's path has its own names in braces: the raw one is that of the same form. */
function rawPathOf(
  { url = '', method = 'GET' }: HttpOptions,
  raw: ReadonlyMap<string, RawOperation>,
): string {
  const form = (path: string): string =>
    path.replaceAll(/\{[^{}]*\}/g, (name) => `{${name.slice(1, -1).replaceAll(/[^A-Za-z0-9_]+/g, '_')}}`);
  const path = url.replace(/^https?:\/\/[^/]+/, '');
  return [...raw.values()].find((each) => each.method === method && form(each.path) === path)?.path ?? path;
}

function samplesOf(operation: RawOperation, { body }: HttpOptions, document: RawDocument) {
  const args: { [name: string]: JsonValue } = {};
  const values = new Map<string, JsonValue>();
  const parameters = operation.parameters.filter(
    (each) => !(each.in === 'header' && /^(?:accept|content-type|authorization)$/i.test(each.name)),
  );
  for (const parameter of parameters) {
    const [media] = Object.values((parameter.value['content'] ?? {}) as JsonObject);
    const value = document.sample(
      media === undefined ? parameter.value['schema'] : document.at(media)['schema'],
    );
    const safe = parameter.in === 'header' && typeof value === 'string' ? value.replaceAll('ü', 'u') : value;
    values.set(`${parameter.in} ${parameter.name}`, safe);
    args[freeName(parameter.name, parameter.in, args)] = safe;
  }
  const content = Object.entries(
    (document.at(operation.value['requestBody'])['content'] ?? {}) as JsonObject,
  );
  const [type, media] =
    content.find(([name]) => /json/.test(name)) ??
    content.find(([name]) => /urlencoded/.test(name)) ??
    content[0] ??
    [];
  let sentBody: { type: string; value: JsonValue; encoding: JsonObject } | undefined;
  if (type !== undefined && body !== undefined) {
    const { schema, encoding = {} } = document.at(media);
    const isText = !/json|urlencoded/.test(type);
    const value = isText ? (/octet|image|\*/.test(type) ? 'YWJj' : 'some text') : document.sample(schema);
    if (typeof body === 'string') args[body.slice(1, -1)] = value;
    else {
      for (const [name, template] of Object.entries(body as { readonly [name: string]: string }))
        args[template.slice(1, -1)] = (value as JsonObject)[name] ?? null;
    }
    sentBody = { type: type.split(';', 1)[0] ?? type, value, encoding: encoding as JsonObject };
  }
  const expected = encodeRequest(
    { ...operation, parameters },
    (parameter) => values.get(`${parameter.in} ${parameter.name}`) ?? null,
    sentBody,
  );
  return { args, expected };
}

function freeName(name: string, where: string, taken: JsonObject): string {
  const wanted = name.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, 64);
  const clean = /^[A-Za-z_]/.test(wanted) ? wanted : `_${wanted}`;
  return Object.hasOwn(taken, clean) ? `${clean}_${where}` : clean;
}

/** In the form of the other encoder: only those headers that it speaks of. */
function readRequest(
  { method, path, headers, body }: HttpRequest,
  { headers: theirs, body: theirBody }: EncodedRequest,
): EncodedRequest {
  const [pathname = '', query = ''] = path.split('?');
  const type = (headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  const text = body === undefined ? undefined : String(body);
  const content = (): unknown => {
    if (text === undefined) return undefined;
    if (/json/.test(type)) return JSON.parse(text) as unknown;
    if (/urlencoded/.test(type))
      return text
        .split('&')
        .filter((pair) => pair !== '')
        .toSorted();
    return theirBody?.content === 'YWJj' ? Buffer.from(text).toString('base64') : text;
  };
  return {
    method,
    path: pathname,
    query: query
      .split('&')
      .filter((pair) => pair !== '')
      .toSorted(),
    headers: Object.fromEntries(Object.keys(theirs).map((name) => [name, headers[name] ?? ''])),
    body: text === undefined ? undefined : { type, content: content() },
  };
}
