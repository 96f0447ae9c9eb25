// What a schema refuses becomes what a caller is told: every place that is wrong, and what was expected there.
import type { z } from 'zod';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { childPointer, toPointer } from '../../../lib/json/json-pointer.ts';
import { didYouMean } from '../../../lib/text/did-you-mean.ts';

export interface Violation {
  /** JSON pointer into the body; `/name` for a query parameter; empty for a header and for the body itself. */
  readonly pointer: string;
  readonly message: string;
}

const MOST = 50;
const LONGEST_NAME = 64;

export function invalid(pointer: string, message: string): ToolFailure {
  return refused([{ pointer, message }]);
}

/** At least one. */
export function refused(violations: readonly Violation[]): ToolFailure {
  const told = violations.filter(isNew).slice(0, MOST);
  const sentences = told.map(
    ({ pointer, message }) =>
      `${pointer || (message.startsWith('header ') ? 'the' : 'the body')} ${message}.`,
  );
  return toolFailure('MALFORMED_CALL', sentences.join(' '), {
    details: { violations: told.map(({ pointer, message }) => ({ pointer, message })) },
  });
}

/** A value that breaks two rules of one place is told once what was expected there. */
function isNew({ pointer, message }: Violation, index: number, all: readonly Violation[]): boolean {
  return all.findIndex((one) => one.pointer === pointer && one.message === message) === index;
}

/** `known`: the fields of the object itself, for a hint at what was meant. */
export function violationsOf(
  issues: readonly z.core.$ZodIssue[],
  known: readonly string[],
  kind: string,
): readonly Violation[] {
  return issues.flatMap((issue) => {
    const pointer = toPointer(issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step)));
    if (issue.code !== 'unrecognized_keys') return [{ pointer, message: issue.message }];
    const near = issue.path.length === 0 ? known : [];
    return issue.keys.map((key) => unknownName(pointer, key, near, kind));
  });
}

/** `kind`: what it would be, such as `query parameter of this route`. */
export function unknownName(parent: string, name: string, known: readonly string[], kind: string): Violation {
  const near = didYouMean(name, known);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  const names = known.length === 0 ? 'it has none' : `known: ${known.join(', ')}`;
  return {
    pointer: childPointer(parent, name.slice(0, LONGEST_NAME)),
    message: `is no ${kind}${hint} (${names})`,
  };
}
