// Unusable: why one operation cannot be a tool. It is left out, and the operator is told.
import { toPointer } from '../../lib/json/json-pointer.ts';

/** A place in the document, as a chain: cheap to extend, written out only when something is wrong there. */
export interface Place {
  readonly step: string;
  readonly parent: Place | undefined;
}

export function below(parent: Place | undefined, ...steps: readonly (string | number)[]): Place | undefined {
  let place = parent;
  for (const step of steps) place = { step: String(step), parent: place };
  return place;
}

export function pointerOf(place: Place | undefined): string {
  const steps: string[] = [];
  for (let at = place; at !== undefined; at = at.parent) steps.unshift(at.step);
  return `#${toPointer(steps)}`;
}

/** The message completes "the operation …". */
export class Unusable extends Error {}

const LONGEST_SHOWN = 120;

/** What the document says, fit for one line of a log. */
export function shown(text: string): string {
  const short = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
  return JSON.stringify(short);
}
