// The regular-expression engine of schemas: RE2, which never backtracks, under a budget of steps.
import { RE2JS } from 're2js';
import { spend } from './work-budget.ts';

export const MAX_PATTERN_LENGTH = 512;

/** What Ajv expects of a compiled pattern. `toString` must be unique: Ajv keys its cache by it. */
export interface CompiledPattern {
  test(text: string): boolean;
  toString(): string;
  /** Steps of its program, by what each of them costs to make. */
  readonly weight: number;
}

/** The linter compiles each pattern, and tools share patterns: the last ones are kept. */
const recent = new Map<string, CompiledPattern>();
const MAX_RECENT = 256;

/** Throws Error when the pattern is no regular expression or needs what RE2 does not do (look-around, back-references). */
export function compilePattern(pattern: string): CompiledPattern {
  const known = recent.get(pattern);
  if (known !== undefined) return known;
  const re = RE2JS.compile(RE2JS.translateRegExp(pattern));
  const size = re.programSize();
  const compiled: CompiledPattern = {
    test(text) {
      // RE2 takes at most that many; only `{1,1000}` and its like make programs larger than some dozens.
      spend(1 + text.length * size);
      return re.test(text);
    },
    toString: () => `re2:/${pattern}/`,
    weight: size * weightOf(pattern),
  };
  if (recent.size >= MAX_RECENT) recent.clear();
  recent.set(pattern, compiled);
  return compiled;
}

/** A class of hundreds of ranges is looked through for each step that it is repeated in. */
const WIDE_CLASS = /\\p/i;
const WIDE = 8;
const CHARACTERS_PER_WEIGHT = 64;

function weightOf(pattern: string): number {
  return 1 + (WIDE_CLASS.test(pattern) ? WIDE : 0) + Math.floor(pattern.length / CHARACTERS_PER_WEIGHT);
}

/** The engine in the shape of Ajv's `code.regExp`. Its patterns are always Unicode ones, whatever the flags. */
export const re2Engine = Object.assign((pattern: string) => compilePattern(pattern), { code: 're2Engine' });
