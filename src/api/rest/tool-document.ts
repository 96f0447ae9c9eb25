// Reads one tool's definition out of a body, JSON or YAML: bounded, without duplicate keys, nothing repeated beyond measure.
import type { FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import { MAX_ALIASES, parseYaml, yamlProblems } from '../../lib/tools-yaml/yaml-text.ts';
import { YAML_TYPES } from './json-body.ts';
import { invalid, parseBody } from './read-call.ts';

/** Of the text, and of its value as JSON: a definition is read where calls run. */
const MAX_BYTES = 256 * 1024;

/** Throws ToolFailure. */
export function toolDocument({ body, headers }: FastifyRequest): JsonObject {
  if (body instanceof ToolFailure) throw body;
  if (!Buffer.isBuffer(body) || body.length === 0) throw invalid('', 'must be the definition of one tool');
  if (body.length > MAX_BYTES) throw tooLarge();
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const value = YAML_TYPES.some((each) => each === type) ? yamlValue(body.toString('utf8')) : parseBody(body);
  if (!isJsonObject(value)) throw invalid('', 'must be the definition of one tool: a map with tool_type and the rest');
  return value;
}

function yamlValue(text: string): unknown {
  const document = parseYaml(text);
  const [problem] = yamlProblems({ file: 'body', text, lineOf: (line) => line }, document);
  if (problem !== undefined)
    throw invalid('', `line ${problem.line}, column ${problem.column}: ${problem.message}`);
  let json: string;
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    // A value of JSON alone: no dates, no numbers that JSON cannot say, nothing inside itself.
    json = JSON.stringify(value) ?? 'null';
  } catch (error) {
    throw invalid('', `cannot be read: ${(error as Error).message.split('\n', 1)[0]}`);
  }
  if (Buffer.byteLength(json) > MAX_BYTES) throw tooLarge();
  return JSON.parse(json) as unknown;
}

function tooLarge(): ToolFailure {
  return new ToolFailure('PAYLOAD_TOO_LARGE', `The definition is larger than the limit of ${MAX_BYTES} bytes.`, {
    details: { limit_bytes: MAX_BYTES },
  });
}
