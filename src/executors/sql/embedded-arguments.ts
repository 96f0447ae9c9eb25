// What a statement may ask for besides arguments: the meaning of one as a vector, and by which model that is.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { within } from '../../lib/timers/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Embedder } from '../../ports/egress/embedder.ts';
import type { Log } from '../../ports/telemetry/log.ts';

const VECTOR_OF = 'embedding.';
const MODEL = 'embeddings.model';
const MIN_SIMILARITY = 'embeddings.min_similarity';
/** In meta.degraded of a call whose texts could not be embedded. */
const COMPONENT = 'embeddings';

/** Of a name with a dot: whether there is such a thing. */
export function isPlaceholder(name: string): boolean {
  return !name.includes('.') || name.startsWith(VECTOR_OF) || name === MODEL || name === MIN_SIMILARITY;
}

/** The argument that a placeholder needs; undefined: none. */
export function argumentOf(placeholder: string): string | undefined {
  if (placeholder.startsWith(VECTOR_OF)) return placeholder.slice(VECTOR_OF.length);
  return placeholder.includes('.') ? undefined : placeholder;
}

/** Each argument once. */
export function argumentsOf(placeholders: readonly string[]): readonly string[] {
  return [...new Set(placeholders.flatMap((name) => argumentOf(name) ?? []))];
}

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
}

export class EmbeddedArguments {
  readonly #names: readonly string[];
  readonly #embedder: Embedder;
  readonly #needs: Needs;

  private constructor(names: readonly string[], embedder: Embedder, needs: Needs) {
    this.#names = names;
    this.#embedder = embedder;
    this.#needs = needs;
  }

  /** Undefined: the statement asks for none. */
  static of(names: readonly string[], embedder: Embedder, needs: Needs): EmbeddedArguments | undefined {
    const wanted = names.filter((name) => name.includes('.'));
    return wanted.length === 0 ? undefined : new EmbeddedArguments(wanted, embedder, needs);
  }

  /** The arguments and what there is besides: NULL where no service is set. A service that fails leaves vectors out; the answer says so, and nothing else fails. */
  async with(call: ToolCall): Promise<JsonObject> {
    const values = await Promise.all(this.#names.map(async (name) => [name, await this.#value(name, call)]));
    return { ...call.arguments, ...(Object.fromEntries(values) as JsonObject) };
  }

  async #value(name: string, call: ToolCall): Promise<JsonValue> {
    const { model, minSimilarity } = this.#embedder;
    if (model === undefined) return null;
    if (name === MODEL) return model;
    if (name === MIN_SIMILARITY) return minSimilarity;
    const text = call.arguments[argumentOf(name) ?? ''];
    return typeof text === 'string' ? this.#vector(text, call) : null;
  }

  async #vector(text: string, call: ToolCall): Promise<JsonValue> {
    const { clock, log } = this.#needs;
    // The statement needs its part of the time.
    const limit = { ms: (call.deadline - clock.now()) / 2, signal: call.signal };
    try {
      return [...(await within(clock, limit, (signal) => this.#embedder.embed(text, signal)))];
    } catch (error) {
      call.signal.throwIfAborted();
      const { degraded } = call.progress;
      if (!degraded.includes(COMPONENT)) degraded.push(COMPONENT);
      log.debug(
        { ...callLogFields(call), err: error },
        'a text could not be embedded: the call goes on without',
      );
      return null;
    }
  }
}
