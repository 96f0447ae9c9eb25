// The text of a document as JSON values: JSON or YAML, of a version we know, no deeper than any real one.
import { parseDocument as parseYaml } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';

const MAX_DEPTH = 200;
const MAX_YAML_ALIASES = 1_000;
const MAX_VALUES = 10_000_000;

/** The message completes "the document …". */
export class DocumentError extends Error {
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

/** Throws DocumentError. */
export function parseDocument(text: string): JsonObject {
  const document = /^\s*[{[]/.test(text) ? readJson(text) : readYaml(text);
  if (!isJsonObject(document))
    throw new DocumentError('is no OpenAPI document: expected a map with "openapi"');
  refuseExcess(document);
  const { openapi, swagger, paths } = document;
  if (typeof openapi !== 'string' || !/^3\.[012](?:\.|$)/.test(openapi)) {
    const found =
      swagger === undefined ? `openapi ${JSON.stringify(openapi)}` : `swagger ${JSON.stringify(swagger)}`;
    throw new DocumentError(`expected openapi 3.0 or 3.1, found ${found.slice(0, 60)}`);
  }
  if (!isJsonObject(paths)) throw new DocumentError('expected a map of paths under "paths"');
  return document;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // A flow map may begin with a brace and be YAML all the same; what is deep is neither.
    if (error instanceof RangeError) throw new DocumentError('is nested too deeply to be read');
    if (/^\s*[{[]\s*["}\]]/.test(text)) throw new DocumentError(`is not JSON: ${(error as Error).message}`);
    return readYaml(text);
  }
}

function readYaml(text: string): unknown {
  try {
    const parsed = parseYaml(text, { prettyErrors: true, logLevel: 'silent', uniqueKeys: false });
    const [problem] = parsed.errors;
    if (problem !== undefined)
      throw new DocumentError(`is not YAML: ${firstLine(problem.message)}`, problem.linePos?.[0].line);
    return parsed.toJS({ maxAliasCount: MAX_YAML_ALIASES });
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    if (error instanceof RangeError) throw new DocumentError('is nested too deeply to be read');
    throw new DocumentError(`is not YAML: ${firstLine((error as Error).message)}`);
  }
}

/** Without recursion: depth is what it looks for. Aliases of YAML count each time they are used. */
function refuseExcess(root: JsonValue): void {
  let level: JsonValue[] = [root];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new DocumentError(`is nested deeper than ${MAX_DEPTH} levels`);
    const next: JsonValue[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      for (const member of Object.values(value)) next.push(member);
      if (values + next.length > MAX_VALUES) throw new DocumentError(`holds more than ${MAX_VALUES} values`);
    }
    values += next.length;
    level = next;
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]?.slice(0, 300) ?? '';
}
