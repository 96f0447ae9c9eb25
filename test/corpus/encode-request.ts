// A second encoder, written from OpenAPI's style table alone: what a request has to be, from the document and values by parameter.
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import type { RawOperation, RawParameter } from './raw-document.ts';

export interface EncodedRequest {
  readonly method: string;
  readonly path: string;
  /** Encoded pairs in alphabetical order. */
  readonly query: readonly string[];
  readonly headers: { readonly [name: string]: string };
  readonly body: { readonly type: string; readonly content: unknown } | undefined;
}

const percent = (value: JsonValue): string =>
  [...Buffer.from(typeof value === 'object' ? JSON.stringify(value) : String(value))]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9\-_.!~*'()]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
const isMap = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function encodeRequest(
  { method, path, parameters }: RawOperation,
  valueOf: (parameter: RawParameter) => JsonValue,
  body: { readonly type: string; readonly value: JsonValue; readonly encoding: JsonObject } | undefined,
): EncodedRequest {
  let filled = path;
  const query: string[] = [];
  const headers: { [name: string]: string } = {};
  for (const parameter of parameters) {
    const value = valueOf(parameter);
    if (parameter.in === 'path') filled = filled.replaceAll(`{${parameter.name}}`, simple(value));
    else if (parameter.in === 'query') query.push(...pairs(parameter.name, value, parameter.value));
    else if (parameter.in === 'header')
      headers[parameter.name.toLowerCase()] = [value]
        .flat()
        .map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
        .join(',');
  }
  return { method, path: filled, query: query.toSorted(), headers, body: body && encodeBody(body) };
}

function encodeBody({
  type,
  value,
  encoding,
}: {
  type: string;
  value: JsonValue;
  encoding: JsonObject;
}): EncodedRequest['body'] {
  if (!type.includes('x-www-form-urlencoded')) return { type, content: value };
  const content = Object.entries(isMap(value) ? value : {}).flatMap(([name, member]) => {
    const said = encoding[name];
    const style = said !== undefined && isMap(said) ? said : {};
    // Where nothing is said, an object is JSON.
    return style['style'] === undefined && isMap(member)
      ? [`${percent(name)}=${percent(member)}`]
      : pairs(name, member, style);
  });
  return { type, content: content.toSorted() };
}

function simple(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(percent).join(',');
  return isMap(value)
    ? Object.entries(value)
        .map(([key, item]) => `${percent(key)},${percent(item)}`)
        .join(',')
    : percent(value);
}

function pairs(name: string, value: JsonValue, said: JsonObject): string[] {
  const style = said['style'] ?? 'form';
  if (said['content'] !== undefined) return [`${percent(name)}=${percent(JSON.stringify(value))}`];
  if (style === 'deepObject') return deep(percent(name), value);
  const explode = said['explode'] ?? style === 'form';
  const between = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '|' : ',';
  if (Array.isArray(value)) {
    const items = value.map(percent);
    return explode === true
      ? items.map((item) => `${percent(name)}=${item}`)
      : [`${percent(name)}=${items.join(between)}`];
  }
  if (!isMap(value)) return [`${percent(name)}=${percent(value)}`];
  const members = Object.entries(value);
  return explode === true
    ? members.map(([key, item]) => `${percent(key)}=${percent(item)}`)
    : [`${percent(name)}=${members.flatMap(([key, item]) => [percent(key), percent(item)]).join(between)}`];
}

function deep(name: string, value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => deep(`${name}[${index}]`, item));
  if (isMap(value))
    return Object.entries(value).flatMap(([key, item]) => deep(`${name}[${percent(key)}]`, item));
  return [`${name}=${percent(value)}`];
}
