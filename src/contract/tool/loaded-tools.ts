// What a loader brings: tools and connections as written, each able to say where it stands in its source.
import type { JsonObject } from '../json.ts';
import type { Origin } from './origin.ts';
import type { ForeignDefinition } from './tool-spec.ts';

/** A place in a source. Line and column count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** Something wrong with what an operator wrote: where, in which tool, and what was expected. */
export interface Problem extends SourcePosition {
  readonly tool?: string;
  /** JSON path inside the tool, dotted: `input_schema.properties.a`. */
  readonly path?: string;
  readonly message: string;
}

/** One declaration, snake_case, not yet checked. `locate` may be slow: it is asked only about problems. */
export interface RawDeclaration {
  readonly value: unknown;
  /** sha256 of the text, hex: an unchanged declaration is not checked or compiled again. */
  readonly contentHash: string;
  /** Absolute folder that relative paths in the declaration start from. */
  readonly baseDir: string;
  /**
   * Set by a loader of tools that others define. It has linted their schemas already, in a thread: linting a hostile one
   * may take a second. `contentHash` covers this, too.
   */
  readonly foreign?: ForeignDefinition;
  /** Set by a loader of documents from elsewhere; `contentHash` covers this, too. */
  readonly origin?: Origin;
  /** Set by a loader of tools that others bring one by one: one that is wrong is left out, and keeps no other from being loaded. */
  readonly dispensable?: true;
  /** Position of the value (or, with `key`, of the key) at a path inside `value`. */
  locate(path: readonly (string | number)[], what?: 'key' | 'value'): SourcePosition;
}

export interface RawConnection extends RawDeclaration {
  readonly name: string;
  /** `value` with `${env:…}` and `${file:…}` resolved. */
  readonly resolved: JsonObject;
  /** What the references brought in. Left out: there were none. */
  readonly secrets?: readonly string[];
}

export interface LoadedTools {
  readonly tools: readonly RawDeclaration[];
  readonly connections: readonly RawConnection[];
  /** Not empty: the whole load is refused and the last good set stays in force. */
  readonly problems: readonly Problem[];
}
