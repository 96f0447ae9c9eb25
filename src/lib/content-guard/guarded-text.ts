// One text under rules: refused, asked about, or masked until no rule that masks finds anything in it.
import type { Span } from './detector.ts';
import { EndlessFinding, findingsIn } from './scan-text.ts';
import type { Rule, RuleSet } from './rules.ts';

/** Why a value does not pass. Says no word of what was found. */
export class ContentRefused extends Error {
  readonly rule: string | undefined;

  /** `rule` undefined: the value cannot be looked through. */
  constructor(message: string, rule?: string) {
    super(message);
    this.rule = rule;
  }
}

export interface Findings {
  /** How many of each rule. */
  add(rule: Rule, count: number): void;
}

/** A mask may leave something beside it that another rule finds now; more often than this it is no accident. */
const MAX_PASSES = 4;

/** The text as it may be passed on, and the rules that ask first. Throws ContentRefused. Yields in long texts. */
export function* guardText(
  text: string,
  rules: RuleSet,
  found: Findings,
): Generator<void, { readonly text: string; readonly asks: readonly Rule[] }> {
  const asks: Rule[] = [];
  for (const rule of rules.refuse) {
    const count = (yield* spansOf(text, rule)).length;
    if (count === 0) continue;
    found.add(rule, count);
    throw new ContentRefused(`holds what the rule "${rule.name}" refuses`, rule.name);
  }
  for (const rule of rules.ask) {
    const count = (yield* spansOf(text, rule)).length;
    if (count === 0) continue;
    found.add(rule, count);
    asks.push(rule);
  }
  return { text: yield* masked(text, rules.mask, found), asks };
}

interface Masked extends Span {
  readonly mask: string;
}

/** What all rules find in one and the same text: the mask of one must not cut what another one would have found. */
function* masked(text: string, rules: readonly Rule[], found: Findings): Generator<void, string> {
  let current = text;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const all: Masked[] = [];
    for (const rule of rules) {
      const spans = yield* spansOf(current, rule);
      if (spans.length === 0) continue;
      found.add(rule, spans.length);
      for (const { start, end } of spans) all.push({ start, end, mask: rule.mask });
    }
    if (all.length === 0) return current;
    current = replaced(current, yield* united(all));
  }
  throw new ContentRefused('holds findings that no mask takes away');
}

function replaced(text: string, spans: readonly Masked[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, mask } of spans) {
    parts.push(text.slice(from, start), mask);
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

function* spansOf(text: string, rule: Rule): Generator<void, readonly Span[]> {
  const all: Masked[] = [];
  try {
    for (const detector of rule.detectors) {
      for (const { start, end } of yield* findingsIn(text, detector))
        all.push({ start, end, mask: rule.mask });
    }
  } catch (error) {
    if (!(error instanceof EndlessFinding)) throw error;
    throw new ContentRefused(`holds more of "${rule.name}" than is looked at together`, rule.name);
  }
  return yield* united(all);
}

/** Spans after which others get their turn. */
const SPANS_AT_ONCE = 4_096;

/** Those that overlap are one, with the mask of the longest of them. */
function* united(spans: Masked[]): Generator<void, readonly Masked[]> {
  // What comes in runs that are sorted already takes hardly more than one walk.
  spans.sort((left, right) => left.start - right.start);
  const whole: Masked[] = [];
  let longest = 0;
  for (const [index, span] of spans.entries()) {
    if (index % SPANS_AT_ONCE === SPANS_AT_ONCE - 1) yield;
    const length = span.end - span.start;
    const last = whole.at(-1);
    if (last === undefined || span.start >= last.end) {
      whole.push(span);
      longest = length;
      continue;
    }
    const mask = length > longest ? span.mask : last.mask;
    whole[whole.length - 1] = { start: last.start, end: Math.max(last.end, span.end), mask };
    longest = Math.max(longest, length);
  }
  return whole;
}
