// Tools that run Python which the caller wrote: checked at load, what goes in, and what comes out.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { PythonOptions } from './options.ts';
import type { SandboxWish } from './settings.ts';
import type { LogLevel } from './worker/worker-output.ts';

const MAX_FILES = 32;
const MAX_NAME = 255;
const MAX_BASE64 = 8 * 1024 * 1024;
const TAKEN: ReadonlySet<string> = new Set(['code', 'files', 'keep_state']);
/** Relative, of ordinary parts: no `..`, no hidden way out, nothing a terminal would act on. */
const FILE_NAME = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\p{L}\p{N}_.-]+(?:\/[\p{L}\p{N}_.-]+)*$/u;
const MAX_PRINTED_BYTES = 64 * 1024;

/** Throws a sentence for the operator. */
export function checkCodeTool(fn: ToolFunction, options: PythonOptions, sandbox: SandboxWish): void {
  if (!fn.spec.metadata.isDangerous && options.allow_code !== true) {
    throw new Error('a tool with `code: true` must be marked is_dangerous, or say `allow_code: true`.');
  }
  if (sandbox === 'off') {
    throw new Error(
      'a tool with `code: true` runs in the sandbox only, but executors.python.sandbox is off.',
    );
  }
  const { properties, required } = fn.inputSchema;
  if (
    !isJsonObject(properties) ||
    !isJsonObject(properties['code']) ||
    properties['code']['type'] !== 'string'
  ) {
    throw new Error('input_schema of a tool with `code: true` must have a property `code` of type string.');
  }
  if (!Array.isArray(required) || !required.includes('code')) {
    throw new Error('input_schema of a tool with `code: true` must require `code`.');
  }
  const other = Object.keys(properties).find((name) => !TAKEN.has(name));
  if (other !== undefined) {
    throw new Error(
      `input_schema has the property ${other}, but code takes only \`code\`, \`files\` and \`keep_state\`.`,
    );
  }
}

/** Throws ToolFailure VALIDATION. */
export function checkCodeArguments({ code, files }: JsonObject): void {
  if (typeof code !== 'string') throw invalid('code', 'must be a string of Python.');
  if (files === undefined) return;
  if (!isJsonObject(files))
    throw invalid('files', 'must be an object of file names and their text, or {base64: …}.');
  const names = Object.keys(files);
  if (names.length > MAX_FILES)
    throw invalid('files', `holds ${names.length} files; ${MAX_FILES} are allowed.`);
  for (const name of names) {
    if (!isFileName(name))
      throw invalid('files', 'has a name that is not a plain relative path such as data/input.csv.');
    if (isBelowFile(name, files))
      throw invalid('files', 'has a name that is a file, and the folder of another.');
    if (!isContent(files[name]))
      throw invalid('files', 'must hold texts, and objects {base64: "…"} for what is no text.');
  }
}

/** Each part as long as a file system takes it. */
function isFileName(name: string): boolean {
  return (
    name.length <= MAX_NAME &&
    FILE_NAME.test(name) &&
    name.split('/').every((part) => Buffer.byteLength(part) <= MAX_NAME)
  );
}

/** True if one of the folders on the way to the file is a file itself. */
function isBelowFile(name: string, files: JsonObject): boolean {
  const parts = name.split('/');
  return parts.some((_, at) => at > 0 && Object.hasOwn(files, parts.slice(0, at).join('/')));
}

function isContent(said: JsonValue | undefined): boolean {
  if (typeof said === 'string') return true;
  if (!isJsonObject(said) || Object.keys(said).length !== 1) return false;
  const { base64 } = said;
  if (typeof base64 !== 'string' || base64.length > MAX_BASE64 || base64.length % 4 !== 0) return false;
  return /^[A-Za-z0-9+/]*={0,2}$/.test(base64);
}

/** Collects what the code prints, as it was printed. */
export class Printed {
  readonly #chunks: Record<LogLevel, Buffer[]> = { info: [], warn: [] };
  #left = MAX_PRINTED_BYTES;
  #truncated = false;

  readonly add = (level: LogLevel, chunk: Buffer): void => {
    if (chunk.length > this.#left) this.#truncated = true;
    const kept = chunk.subarray(0, this.#left);
    this.#left -= kept.length;
    this.#chunks[level].push(kept);
  };

  /** The tool's result: what the worker says of the code, with what was printed. */
  resultOf(said: JsonValue): JsonObject {
    const {
      result = null,
      error = null,
      files = {},
      images = [],
      files_left_out = 0,
    } = isJsonObject(said) ? said : {};
    return {
      stdout: Buffer.concat(this.#chunks.info).toString(),
      stderr: Buffer.concat(this.#chunks.warn).toString(),
      output_truncated: this.#truncated,
      result,
      error,
      files,
      images,
      files_left_out,
    };
  }
}

function invalid(field: string, what: string): ToolFailure {
  return new ToolFailure('VALIDATION', `The argument ${field} ${what}`, {
    partialSideEffects: false,
    details: { violations: [{ pointer: `/${field}`, message: what }] },
  });
}
