// Reads one tool's definition out of a body, JSON or YAML: bounded, without duplicate keys, nothing repeated beyond measure.
import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { runInThread, ThreadTaskError } from '../../../lib/concurrency/thread-task.ts';
import type { ParsedOne } from '../../../lib/tools-yaml/parse-one.ts';
import { YAML_TYPES } from '../server/json-body.ts';
import { parseBody } from '../route/json-text.ts';
import { invalid } from '../route/violations.ts';

/** Of the text, and of its value as JSON: a definition is judged where calls run. */
const MAX_BYTES = 256 * 1024;
const READ_TIMEOUT_MS = 5_000;
const MAX_MEMORY_MB = 256;
/** In src as in dist. */
const THREAD = new URL(
  `../../../lib/tools-yaml/parse-one-thread${import.meta.url.slice(-3)}`,
  import.meta.url,
);

/** Rejects with ToolFailure. */
export async function toolDocument({ body, headers }: FastifyRequest): Promise<JsonObject> {
  if (body instanceof ToolFailure) throw body;
  if (!Buffer.isBuffer(body) || body.length === 0) throw invalid('', 'must be the definition of one tool');
  if (body.length > MAX_BYTES) throw tooLarge();
  if (!isUtf8(body)) throw invalid('', 'must be text in UTF-8');
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const isYaml = YAML_TYPES.some((each) => each === type);
  const value = isYaml ? await yamlValue(body.toString('utf8')) : parseBody(body);
  if (!isJsonObject(value))
    throw invalid('', 'must be the definition of one tool: a map with tool_type and the rest');
  return value;
}

async function yamlValue(text: string): Promise<unknown> {
  const parsed = await readElsewhere(text);
  if ('message' in parsed) throw invalid('', parsed.message);
  if (Buffer.byteLength(parsed.json) > MAX_BYTES) throw tooLarge();
  return parseBody(Buffer.from(parsed.json));
}

async function readElsewhere(text: string): Promise<ParsedOne> {
  try {
    return await runInThread<ParsedOne>(THREAD, text, {
      clock: { after },
      timeoutMs: READ_TIMEOUT_MS,
      maxMemoryMb: MAX_MEMORY_MB,
      signal: new AbortController().signal,
    });
  } catch (error) {
    if (!(error instanceof ThreadTaskError)) throw error;
    return { message: `cannot be read: ${error.message}` };
  }
}

function after(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
}

function tooLarge(): ToolFailure {
  return new ToolFailure(
    'PAYLOAD_TOO_LARGE',
    `The definition is larger than the limit of ${MAX_BYTES} bytes.`,
    {
      details: { limit_bytes: MAX_BYTES },
    },
  );
}
