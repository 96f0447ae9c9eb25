// Recordings: calls with their outcomes, kept in files an operator asks for; and the source that answers from such a file.
import type { Intent } from '../contract/call/intent.ts';
import type { JsonObject } from '../contract/json.ts';
import type { ToolError, Truncation } from '../contract/call/tool-response.ts';

/** Which calls are recorded, and when it ends. Left out: every tenant, session or tool. */
export interface RecordingWish {
  /** RECORDING_NAME; becomes the file's name. */
  readonly name: string;
  readonly tenantId?: string;
  readonly sessionId?: string;
  /** Globs over function names. */
  readonly tools?: readonly string[];
  readonly maxCalls: number;
  readonly maxBytes: number;
  readonly ttlMs: number;
}

export const RECORDING_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export const RECORDING_BOUNDS = {
  tools: 32,
  calls: { least: 1, most: 100_000, usual: 1_000 },
  bytes: { least: 4_096, most: 256 << 20, usual: 16 << 20 },
  ttlMs: { least: 1_000, most: 7 * 86_400_000, usual: 3_600_000 },
} as const;

/** Why a recording holds nothing more; `running` while it goes on. */
export const RECORDING_ENDS = [
  'running',
  'stopped',
  'max_calls',
  'max_bytes',
  'ttl',
  'shutdown',
  'crash',
  'write_error',
] as const;
export type RecordingEnd = (typeof RECORDING_ENDS)[number];

export interface RecordingState {
  readonly name: string;
  readonly ended: RecordingEnd;
  readonly tenantId?: string;
  readonly sessionId?: string;
  readonly tools?: readonly string[];
  readonly startedAt: string;
  readonly calls: number;
  /** Calls that fitted the wish and are not in the file: they had not ended, or the file was full. */
  readonly missed: number;
  readonly bytes: number;
}

export type RecordedOutcome =
  | {
      readonly ok: true;
      /** The JSON text of the answer's data, byte for byte. */
      readonly dataJson: string;
      readonly intents: readonly Intent[];
      readonly truncated?: Truncation;
    }
  | { readonly ok: false; readonly error: ToolError };

/** One call as the file has it. Nothing in it is secret. */
export interface RecordedCall {
  /** In which order the calls came in; 1 for the first. */
  readonly order: number;
  /** ISO 8601, UTC: when it came in. */
  readonly at: string;
  readonly tool: string;
  readonly toolVersion: string;
  /** Content hash of the tool's definition. */
  readonly definitionHash: string;
  /** After defaults. What the schema marks as sensitive is sealed. */
  readonly arguments: JsonObject;
  /** sha256 of the canonical JSON of `arguments`, hex. */
  readonly argumentsHash: string;
  /** The place in a cut list that the call asked to go on from. */
  readonly cursor?: string;
  readonly durationMs: number;
  readonly outcome: RecordedOutcome;
}

export interface RecordingFacts {
  readonly callId: string;
  /** The call that this one is a step of. */
  readonly parentId?: string;
  readonly tool: string;
  readonly tenantId: string;
  readonly sessionId: string;
}

/** One call on its way into the recordings that want it. Exactly one of both is called, once. */
export interface Take {
  keep(call: Omit<RecordedCall, 'order'>): void;
  /** There was no outcome that anybody could be given again. */
  drop(): void;
}

export interface Recordings {
  readonly enabled: boolean;
  /** Nothing is recorded now. */
  readonly idle: boolean;
  /**
   * Undefined: nobody wants this call. Steps of a call that is recorded itself are part of its outcome and not wanted.
   * Cheap while nothing is recorded; never throws.
   */
  begin(facts: RecordingFacts): Take | undefined;
  /** What stands in a recording for a sensitive value: equal for equal values, and of no use without the gateway's key. */
  seal(text: string): string;
  /** Throws ToolFailure CONFLICT (RECORDING_EXISTS) or UNAVAILABLE (RECORDINGS_FULL, RECORDINGS_UNAVAILABLE, RECORDINGS_OFF). */
  start(wish: RecordingWish): Promise<RecordingState>;
  /** Newest first, the ended ones too. */
  list(): Promise<readonly RecordingState[]>;
  /** `of`, here and below: only where it holds calls of this tenant alone; left out: whosever they are. */
  find(name: string, of?: string): Promise<RecordingState | undefined>;
  /** Ends it and keeps the file. Undefined: there is none of this name. */
  stop(name: string, of?: string): Promise<RecordingState | undefined>;
  /** The file as it stands, as JSON lines. Undefined: there is none of this name. */
  read(name: string, of?: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Ends it, if it runs, and deletes the file. False: there is none of this name. */
  remove(name: string, of?: string): Promise<boolean>;
  /** Ends all of them; the files stay. */
  close(): Promise<void>;
}

export interface AskedCall {
  readonly tool: string;
  /** Sealed like those of the recording. */
  readonly arguments: JsonObject;
  readonly cursor?: string;
  readonly definitionHash: string;
}

export type ReplayAnswer =
  | { readonly found: true; readonly call: RecordedCall; readonly definitionChanged: boolean }
  | {
      readonly found: false;
      /** How often the same call was recorded; more than 0: all of those answers were given. */
      readonly recordedTimes: number;
      /** Calls of this tool in the recording. */
      readonly recordedOfTool: number;
      readonly definitionChanged: boolean;
      readonly nearest?: NearestCall;
    };

/** The recorded call of this tool that differs least. */
export interface NearestCall {
  readonly order: number;
  readonly changes: readonly NearestChange[];
  /** Differences beyond those shown. */
  readonly more: number;
}

export interface NearestChange {
  /** RFC 6901. */
  readonly pointer: string;
  /** JSON text, shortened. Absent: it was not there. */
  readonly recorded?: string;
  readonly asked?: string;
}

export interface ReplayRules {
  /** What becomes of a call that was not recorded. */
  readonly onMiss: 'refuse' | 'call';
  /** What equal calls get when all recorded answers were given: the last one again, or what a miss gets. */
  readonly onRepeat: 'last' | 'miss';
  /** What becomes of a recorded call whose tool is defined otherwise by now. */
  readonly onChanged: 'answer' | 'refuse';
}

export interface ReplayReport {
  readonly file: string;
  readonly recorded: number;
  readonly asked: number;
  readonly answered: number;
  readonly missed: number;
  /** Recorded, and never asked for; the first of them, by order. */
  readonly notAsked: readonly {
    readonly order: number;
    readonly tool: string;
    readonly argumentsHash: string;
  }[];
  readonly notAskedCount: number;
  /** Asked for, and not recorded; the first of them. */
  readonly notRecorded: readonly NotRecorded[];
  readonly notRecordedCount: number;
  /** Tools that were asked for and are defined otherwise than when they were recorded. */
  readonly definitionsChanged: readonly string[];
}

export interface NotRecorded {
  readonly tool: string;
  /** JSON text, shortened; sealed like those of the recording. */
  readonly arguments: string;
  readonly argumentsHash: string;
  readonly times: number;
}

/** A recording that answers. */
export interface ReplaySource {
  readonly rules: ReplayRules;
  /** Whose calls were recorded. Undefined: those of several tenants. */
  readonly tenantId?: string;
  seal(text: string): string;
  /** The next recorded answer of an equal call. Never throws. */
  ask(call: AskedCall): ReplayAnswer;
  report(): ReplayReport;
  /** From the first answer again, with nothing asked yet. */
  rewind(): void;
}
