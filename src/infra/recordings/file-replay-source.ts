// A recording that answers: equal calls get the recorded answers in their order, and everything is counted for the report.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import type {
  AskedCall,
  NotRecorded,
  RecordedCall,
  ReplayReport,
  ReplayRules,
  ReplaySource,
  ReplayAnswer,
} from '../../ports/recordings.ts';
import { nearestCall } from './nearest-call.ts';
import type { ReadRecording } from './read-recording.ts';
import { isSealed, SEALED_UNKNOWN, type Seal } from './seal-key.ts';

/** Distinct calls that the report names; the rest is counted. */
const MAX_NAMED = 1_000;
const SHOWN_CHARS = 500;

/** The recorded answers of equal calls. */
interface Slot {
  readonly calls: readonly RecordedCall[];
  asked: number;
}

export class FileReplaySource implements ReplaySource {
  readonly rules: ReplayRules;
  readonly tenantId?: string;
  readonly #file: string;
  readonly #calls: readonly RecordedCall[];
  readonly #slots: ReadonlyMap<string, Slot>;
  readonly #byTool: ReadonlyMap<string, readonly RecordedCall[]>;
  readonly #ownSeal: Seal | undefined;
  readonly #notRecorded = new Map<string, { -readonly [Field in keyof NotRecorded]: NotRecorded[Field] }>();
  readonly #changed = new Set<string>();
  #asked = 0;
  #answered = 0;
  #notRecordedBeyond = 0;

  /** `seal`: what this gateway seals with. Where another key sealed the recording, sealed values are not compared. */
  constructor(file: string, { head, calls }: ReadRecording, rules: ReplayRules, seal: Seal) {
    this.rules = rules;
    if (head.tenantId !== undefined) this.tenantId = head.tenantId;
    this.#file = file;
    const anySealed = calls.some((call) => holdsSealed(call.arguments));
    this.#ownSeal = anySealed && head.sealId === seal.id ? seal : undefined;
    this.#calls = this.#ownSeal === undefined ? calls.map(withUnknownSeals) : calls;
    this.#slots = slotsOf(this.#calls);
    this.#byTool = Map.groupBy(this.#calls, ({ tool }) => tool);
  }

  seal(text: string): string {
    return this.#ownSeal?.seal(text) ?? SEALED_UNKNOWN;
  }

  ask(asked: AskedCall): ReplayAnswer {
    const { tool, cursor, definitionHash } = asked;
    const args = this.#ownSeal === undefined ? unsealed(asked.arguments) : asked.arguments;
    const argumentsHash = canonicalHash(args);
    const slot = this.#slots.get(keyOf(tool, argumentsHash, cursor));
    const call = slot && this.#next(slot);
    this.#asked += 1;
    if (slot !== undefined) slot.asked += 1;
    const definitionChanged = this.#isChanged(tool, definitionHash, call);
    if (definitionChanged) this.#changed.add(tool);
    if (call !== undefined && !(definitionChanged && this.rules.onChanged === 'refuse')) {
      this.#answered += 1;
      return { found: true, call, definitionChanged };
    }
    this.#miss(tool, args, argumentsHash);
    const ofTool = this.#byTool.get(tool) ?? [];
    const recordedTimes = slot?.calls.length ?? 0;
    const nearest = recordedTimes === 0 ? nearestCall(args, cursor, ofTool) : undefined;
    return {
      found: false,
      recordedTimes,
      recordedOfTool: ofTool.length,
      definitionChanged,
      ...(nearest && { nearest }),
    };
  }

  report(): ReplayReport {
    const notAsked = [...this.#slots.values()].flatMap(({ calls, asked }) => calls.slice(asked));
    const named = [...this.#notRecorded.values()];
    return {
      file: this.#file,
      recorded: this.#calls.length,
      asked: this.#asked,
      answered: this.#answered,
      missed: this.#asked - this.#answered,
      notAsked: notAsked
        .toSorted((a, b) => a.order - b.order)
        .slice(0, MAX_NAMED)
        .map(({ order, tool, argumentsHash }) => ({ order, tool, argumentsHash })),
      notAskedCount: notAsked.length,
      notRecorded: named.map((each) => ({ ...each })),
      notRecordedCount: named.length + this.#notRecordedBeyond,
      definitionsChanged: [...this.#changed].toSorted(),
    };
  }

  rewind(): void {
    for (const slot of this.#slots.values()) slot.asked = 0;
    this.#notRecorded.clear();
    this.#changed.clear();
    this.#asked = 0;
    this.#answered = 0;
    this.#notRecordedBeyond = 0;
  }

  #next({ calls, asked }: Slot): RecordedCall | undefined {
    return asked < calls.length || this.rules.onRepeat === 'miss' ? calls[asked] : calls.at(-1);
  }

  /** Of a call that is not there, by the last time its tool was recorded. */
  #isChanged(tool: string, definitionHash: string, call: RecordedCall | undefined): boolean {
    const recorded = call ?? this.#byTool.get(tool)?.at(-1);
    return recorded !== undefined && recorded.definitionHash !== definitionHash;
  }

  #miss(tool: string, args: JsonObject, argumentsHash: string): void {
    const key = keyOf(tool, argumentsHash);
    const known = this.#notRecorded.get(key);
    if (known !== undefined) known.times += 1;
    else if (this.#notRecorded.size < MAX_NAMED)
      this.#notRecorded.set(key, {
        tool,
        arguments: JSON.stringify(args).slice(0, SHOWN_CHARS),
        argumentsHash,
        times: 1,
      });
    else this.#notRecordedBeyond += 1;
  }
}

function slotsOf(calls: readonly RecordedCall[]): ReadonlyMap<string, Slot> {
  const groups = Map.groupBy(calls, ({ tool, argumentsHash, cursor }) => keyOf(tool, argumentsHash, cursor));
  return new Map([...groups].map(([key, equal]) => [key, { calls: equal, asked: 0 }]));
}

function keyOf(tool: string, argumentsHash: string, cursor = ''): string {
  return `${tool}\n${argumentsHash}\n${cursor}`;
}

function withUnknownSeals(call: RecordedCall): RecordedCall {
  if (!holdsSealed(call.arguments)) return call;
  const args = unsealed(call.arguments);
  return { ...call, arguments: args, argumentsHash: canonicalHash(args) };
}

function holdsSealed(value: JsonValue): boolean {
  if (typeof value === 'string') return isSealed(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSealed);
}

function unsealed(value: JsonObject): JsonObject {
  return holdsSealed(value) ? (replaceSealed(value) as JsonObject) : value;
}

function replaceSealed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return isSealed(value) ? SEALED_UNKNOWN : value;
  if (Array.isArray(value)) return value.map(replaceSealed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replaceSealed(inner)]));
}
