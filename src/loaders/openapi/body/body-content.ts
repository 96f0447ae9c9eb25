// Which of the media types of a body is sent, and as what: JSON before forms before text before files.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { dereference } from '../document/references.ts';
import { Unusable } from '../unusable.ts';

export interface BodyContent {
  /** As the document writes it. */
  readonly name: string;
  /** Without parameters, in lower case. */
  readonly type: string;
  readonly as: 'json' | 'form' | 'multipart' | 'text' | 'file';
  readonly media: JsonObject;
}

const ORDER = ['json', 'form', 'multipart', 'text', 'file'] as const;
const JSON_TYPE = /^[a-z]+\/(?:[a-z0-9.-]+\+)*(?:x-)?json$/;
const TEXT_TYPE =
  /^(?:text\/.*|application\/(?:[a-z0-9.+-]+\+)?(?:xml|yaml|x-yaml|csv|graphql|ndjson|x-ndjson|jsonl|x-jsonlines|jwt|jose|javascript|sql|sparql-query|sparql-update|edn|toml|timestamp-query)|application\/.*(?:\+xml|\+yaml|\+jwt|ndjson|-jwt))$/;

/** Undefined: none of them can be built. */
export function bodyContent(root: JsonObject, content: JsonValue | undefined): BodyContent | undefined {
  if (!isJsonObject(content)) return undefined;
  const found = Object.entries(content).flatMap(([name, media]): BodyContent[] => {
    const type = (name.split(/[;,]/, 1)[0] ?? '').trim().toLowerCase();
    const kind = kindOf(type, isBinary(root, media));
    if (kind === undefined) return [];
    const sent = kind === 'json' && type.includes('*') ? 'application/json' : type;
    return [{ name, type: sent, as: kind, media: isJsonObject(media) ? media : {} }];
  });
  for (const kind of ORDER) {
    const all = found.filter((each) => each.as === kind);
    const [first] = all;
    if (first === undefined) continue;
    if (kind !== 'json') return first;
    // A patch of single steps is a list that few schemas describe; a merge patch is the object itself.
    return (
      all.find(({ type }) => type === 'application/json') ??
      all.find(({ type }) => type.includes('merge-patch')) ??
      first
    );
  }
  return undefined;
}

function kindOf(type: string, binary: boolean): BodyContent['as'] | undefined {
  if (JSON_TYPE.test(type)) return 'json';
  if (/^(?:\*|application)\/\*$/.test(type)) return binary ? 'file' : 'json';
  if (type === 'application/x-www-form-urlencoded' || type === 'multipart/x-www-form-urlencoded')
    return 'form';
  if (type === 'multipart/form-data' || type === 'application/form-data' || type === 'multipart/*')
    return 'multipart';
  if (!/^[a-z0-9!#$&^_.+*-]+\/[a-z0-9!#$&^_.+*-]+$/.test(type) || type.startsWith('multipart/'))
    return undefined;
  return TEXT_TYPE.test(type) && !binary ? 'text' : 'file';
}

function isBinary(root: JsonObject, media: JsonValue | undefined): boolean {
  const written = isJsonObject(media) ? media['schema'] : undefined;
  if (!isJsonObject(written)) return false;
  try {
    return dereference(root, { value: written, place: undefined }).value['format'] === 'binary';
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    return false;
  }
}
