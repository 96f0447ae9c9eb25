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

export interface Pictured {
  readonly images: readonly {
    readonly base64: string;
    readonly content_type: string;
    readonly name: string;
  }[];
  /** The result without the bytes of its images: what is said in words. */
  readonly rest: JsonObject;
}

/** Of a result whose member `images` is a list of files, each as the http executor gives one: plots of code, say. */
export function picturedIn(data: JsonValue): Pictured | undefined {
  if (!isJsonObject(data) || !Array.isArray(data['images']) || data['images'].length === 0) return undefined;
  const images: Pictured['images'][number][] = [];
  const told: JsonValue[] = [];
  for (const image of data['images']) {
    if (!isJsonObject(image)) return undefined;
    const { base64, content_type: type, name, ...rest } = image;
    if (typeof base64 !== 'string' || typeof type !== 'string' || !type.startsWith('image/'))
      return undefined;
    images.push({ base64, content_type: type, name: typeof name === 'string' ? name : 'image' });
    told.push({ ...(name !== undefined && { name }), ...rest });
  }
  return { images, rest: { ...data, images: told } };
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
