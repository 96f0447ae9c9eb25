// Texts that would hold the event loop: read in a thread, bounded in size, time and memory, and taken over value by value.
import type { Problem, SourcePosition } from '../../contract/tool/loaded-tools.ts';
import { runInThread, ThreadTaskError, type ThreadLimits } from '../../lib/concurrency/thread-task.ts';
import type { WholeSource } from '../../lib/tools-yaml/parse-whole.ts';
import { locateIn, type Path, type YamlText } from '../../lib/tools-yaml/yaml-text.ts';

/** What is shorter takes some milliseconds to parse. */
export const LARGE_TEXT = 16 * 1024;
/** Of one declaration as JSON, with everything that aliases repeat. */
const MAX_JSON_LENGTH = 1024 * 1024;
const TIMEOUT_MS = 60_000;
const MAX_MEMORY_MB = 1_024;
/** In src as in dist. */
const THREAD = new URL(`large-thread${import.meta.url.slice(-3)}`, import.meta.url);

export interface LargeRequest {
  readonly file: string;
  readonly text: string;
  /** Of a piece; left out for a whole text. */
  readonly linesBefore?: number;
}

/** A value crosses as text: parsing JSON is quicker than taking over an object, and can wait for its turn. */
export interface SentValue {
  readonly json: string;
  readonly start: number;
  readonly end: number;
  readonly place: SourcePosition;
}

export type LargeAnswer =
  | { readonly kind: 'needs-whole' }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }
  | { readonly kind: 'piece'; readonly json: string }
  | {
      readonly kind: 'whole';
      readonly tools: readonly (SentValue & { readonly contentHash: string })[];
      readonly connections: readonly (SentValue & { readonly name: string })[];
      readonly problems: readonly Problem[];
    };

export type ParseLimits = Pick<ThreadLimits, 'clock' | 'signal'> & {
  /** Between two values: other work gets its turn. */
  readonly yieldIfDue: () => Promise<void>;
};

/** What is wrong with the text is a problem, and so is one that takes too much. */
export async function askThread(request: LargeRequest, { clock, signal }: ParseLimits): Promise<LargeAnswer> {
  const limits = { clock, signal, timeoutMs: TIMEOUT_MS, maxMemoryMb: MAX_MEMORY_MB };
  try {
    return await runInThread<LargeAnswer>(THREAD, request, limits);
  } catch (error) {
    if (!(error instanceof ThreadTaskError)) throw error;
    const line = (request.linesBefore ?? 0) + 1;
    const message = `cannot be read within the limits of time and memory: ${error.message}`;
    return { kind: 'problems', problems: [{ file: request.file, line, column: 1, message }] };
  }
}

/** Undefined: it is larger than a declaration may be. */
export function valueOf(json: string): { readonly value: unknown } | undefined {
  return json.length > MAX_JSON_LENGTH ? undefined : { value: JSON.parse(json) as unknown };
}

export function tooLarge(place: SourcePosition): Problem {
  const limit = MAX_JSON_LENGTH / 1024;
  const message = `is larger than ${limit} KiB as JSON, with everything that its aliases repeat: divide it`;
  return { ...place, message };
}

export async function parseWholeElsewhere(
  source: { readonly file: string; readonly text: string },
  limits: ParseLimits,
): Promise<WholeSource> {
  const { file, text } = source;
  const answer = await askThread({ file, text }, limits);
  if (answer.kind !== 'whole')
    return { tools: [], connections: [], problems: answer.kind === 'problems' ? answer.problems : [] };
  const yaml: YamlText = { file, text, lineOf: (line) => line };
  const problems = [...answer.problems];
  const takeOver = async <Sent extends SentValue>(
    sent: readonly Sent[],
    pathOf: (at: number, one: Sent) => Path,
  ) => {
    const taken = [];
    for (const [index, one] of sent.entries()) {
      await limits.yieldIfDue();
      const read = valueOf(one.json);
      if (read === undefined) problems.push(tooLarge(one.place));
      else {
        const base = pathOf(index, one);
        const locate = (path: Path, what: 'key' | 'value' = 'value') =>
          locateIn(yaml, [...base, ...path], what, one.start);
        taken.push({ ...one, ...read, jsonLength: one.json.length, locate });
      }
    }
    return taken;
  };
  const tools = await takeOver(answer.tools, (index) => ['tools', index]);
  const connections = await takeOver(answer.connections, (_index, { name }) => ['connections', name]);
  return { tools, connections, problems };
}
