// Lists and objects as OpenAPI's style table (RFC 6570) writes them in a path or a header, and any value as JSON text.
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import { isAbsent } from './argument-text.ts';

export interface TextStyle {
  readonly style: 'simple' | 'label' | 'matrix' | 'json';
  readonly explode: boolean;
  /** What matrix calls the value; encoded. */
  readonly name: string;
}

/** `text` writes one scalar, or notes why it cannot be written. What is left out of a list is left out here. */
export function styledText(
  value: JsonValue,
  { style, explode, name }: TextStyle,
  text: (item: JsonValue) => string,
): string {
  if (style === 'json') return text(JSON.stringify(value));
  if (Array.isArray(value)) {
    const items = value.filter((item) => !isAbsent(item)).map(text);
    if (items.length === 0) return '';
    if (style === 'label') return `.${items.join(explode ? '.' : ',')}`;
    if (style === 'simple') return items.join(',');
    return explode ? items.map((item) => `;${name}=${item}`).join('') : `;${name}=${items.join(',')}`;
  }
  if (isJsonObject(value)) {
    const members = Object.entries(value).filter(([, item]) => !isAbsent(item));
    const pairs = members.map(([key, item]) => `${text(key)}${explode ? '=' : ','}${text(item)}`);
    if (pairs.length === 0) return '';
    if (style === 'label') return `.${pairs.join(explode ? '.' : ',')}`;
    if (style === 'simple') return pairs.join(',');
    return explode ? pairs.map((pair) => `;${pair}`).join('') : `;${name}=${pairs.join(',')}`;
  }
  if (style === 'label') return `.${text(value)}`;
  return style === 'simple' ? text(value) : `;${name}=${text(value)}`;
}
