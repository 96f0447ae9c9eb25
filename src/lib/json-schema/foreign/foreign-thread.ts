// The thread of foreign-schemas.ts: lints and applies schemas that others wrote, where they can take nothing but its own time and memory.
import { LRUCache } from 'lru-cache';
import { parentPort } from 'node:worker_threads';
import type { SchemaProblem } from '../lint/schema-graph.ts';
import { ownThread } from '../../concurrency/thread-cpu.ts';
import type { ThreadReady } from '../../concurrency/bounded-thread.ts';
import { isSlowToCompile } from '../lint/compile-cost.ts';
import { lintSchema } from '../lint/schema-linter.ts';
import { dropStandInNulls } from '../stand-in-nulls.ts';
import { createValidator, type Validator, type ValidatorOptions, type Violation } from '../validator.ts';

/** Schemas and values travel as JSON text: copying text is cheap, and parsing it happens here. */
export type ForeignTask =
  | { readonly kind: 'lint'; readonly schema: string }
  | {
      readonly kind: 'validate';
      readonly key: string;
      /** Only where this thread may not have it yet. */
      readonly schema?: string;
      readonly options: ValidatorOptions;
      readonly value: string;
      /** Set: the value is not checked, but given back without its stand-in nulls. */
      readonly dropsNulls?: boolean;
    };

export type ForeignAnswer =
  | { readonly kind: 'linted'; readonly problems: readonly SchemaProblem[] }
  | { readonly kind: 'validated'; readonly violations: readonly Violation[]; readonly filled?: string }
  /** As JSON text; left out where there are none. */
  | { readonly kind: 'cleaned'; readonly value?: string }
  /** The thread does not have this schema (any more): ask again and bring it. */
  | { readonly kind: 'missing' };

const MOST_VALIDATORS = 64;
/** A default of the schema may stand in a thousand places of a value. */
const MOST_FILLED = 2 * 1024 * 1024;

interface Known {
  readonly schema: object;
  readonly validator: Validator;
}

const validators = new LRUCache<string, Known>({ max: MOST_VALIDATORS });

function answerTo(task: ForeignTask): ForeignAnswer {
  if (task.kind === 'lint') return { kind: 'linted', problems: lintSchema(JSON.parse(task.schema)) };
  const known = knownOf(task);
  if (known === undefined) return { kind: 'missing' };
  const { validator, schema } = known;
  const value: unknown = JSON.parse(task.value);
  if (task.dropsNulls === true) {
    const without = dropStandInNulls(value, schema);
    return { kind: 'cleaned', ...(without !== value && { value: JSON.stringify(without) }) };
  }
  const violations = validator.validate(value);
  if (violations.length > 0 || !validator.changesValue) return { kind: 'validated', violations };
  const filled = JSON.stringify(value);
  if (filled.length <= MOST_FILLED) return { kind: 'validated', violations, filled };
  const message = 'grows too large with the defaults that the schema fills in';
  return { kind: 'validated', violations: [{ pointer: '', message }] };
}

function knownOf({ key, schema, options }: ForeignTask & { kind: 'validate' }): Known | undefined {
  let known = validators.get(key);
  if (known === undefined && schema !== undefined) {
    const parsed = JSON.parse(schema) as object;
    const validator = createValidator(parsed, options);
    // Within the time for it: later, only the check of a value has some left.
    if (isSlowToCompile(parsed)) validator.compile();
    known = { schema: parsed, validator };
  }
  if (known !== undefined) validators.set(key, known);
  return known;
}

function send(answer: ForeignAnswer | ThreadReady): void {
  parentPort?.postMessage(answer);
}

parentPort?.on('message', (task: ForeignTask) => send(answerTo(task)));
send({ kind: 'ready', thread: ownThread() });
