// Which results are content blocks already: of tools that answer with images, audio or resources, and of MCP servers behind the gateway.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';

const KNOWN = new Set(['content', 'structuredContent']);

export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly resource?: ContentResource;
}

export interface ContentResource {
  readonly uri: string;
  readonly text?: string;
  readonly blob?: string;
  /** Nobody has looked whether it is one. */
  readonly mimeType?: unknown;
}

/** Undefined: it is no content. */
export function blocksOf(data: JsonValue): readonly ContentBlock[] | undefined {
  return isContent(data) ? (data['content'] as unknown as readonly ContentBlock[]) : undefined;
}

/** `{content: […]}`, each of its items a block of the protocol, and perhaps `structuredContent`, an object. */
export function isContent(data: JsonValue): data is JsonObject {
  if (!isJsonObject(data) || !Array.isArray(data['content'])) return false;
  const { content, structuredContent } = data;
  return (
    content.length > 0 &&
    content.every(isBlock) &&
    Object.keys(data).every((key) => KNOWN.has(key)) &&
    (structuredContent === undefined || isJsonObject(structuredContent))
  );
}

/** What has to be text in a block of each kind. */
const TEXTS_OF: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};

function isBlock(block: JsonValue): boolean {
  if (!isJsonObject(block)) return false;
  const { type, resource } = block;
  if (type === 'resource') return isResource(resource);
  const fields = typeof type === 'string' && Object.hasOwn(TEXTS_OF, type) ? TEXTS_OF[type] : undefined;
  return fields !== undefined && areTexts(block, ...fields);
}

function isResource(resource: JsonValue | undefined): boolean {
  return (
    isJsonObject(resource) &&
    areTexts(resource, 'uri') &&
    ['text', 'blob'].some((field) => areTexts(resource, field))
  );
}

function areTexts(block: JsonObject, ...fields: readonly string[]): boolean {
  return fields.every((field) => typeof block[field] === 'string');
}
