// Patterns of paths: `/orders/{id}`. A request's path is taken apart first and decoded after, so that no part of it can become two.

export type PathStep = { readonly literal: string } | { readonly name: string };
export type PathPattern = readonly PathStep[];

const MAX_LENGTH = 200;
const MAX_STEPS = 12;
const LITERAL = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$/;
const PARAMETER = /^\{([A-Za-z_][A-Za-z0-9_]{0,63})\}$/;

export class PatternError extends Error {}

/** Throws PatternError with a sentence for whoever wrote the path. */
export function parsePattern(path: string): PathPattern {
  if (!path.startsWith('/')) throw new PatternError('expected a path that begins with "/"');
  if (path.length > MAX_LENGTH) throw new PatternError(`expected at most ${MAX_LENGTH} characters`);
  const steps = path.slice(1).split('/');
  if (steps.length > MAX_STEPS) throw new PatternError(`expected at most ${MAX_STEPS} parts`);
  const pattern = steps.map((step) => stepOf(step));
  const names = pattern.flatMap((step) => ('name' in step ? [step.name] : []));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new PatternError(`{${twice}} stands in it twice`);
  return pattern;
}

function stepOf(step: string): PathStep {
  const name = PARAMETER.exec(step)?.[1];
  if (name !== undefined) return { name };
  if (LITERAL.test(step)) return { literal: step };
  throw new PatternError(
    `"${step}" is no part of a path: expected letters, digits, "-", "_", "." or "~", or {argument} as a whole part`,
  );
}

/** Patterns of one form take the same requests. */
export function formOf(pattern: PathPattern): string {
  return pattern.map((step) => `/${'name' in step ? '{}' : step.literal}`).join('');
}

/** A fixed part goes before an argument: the first that takes a request is the one that was meant. */
export function comparePatterns(a: PathPattern, b: PathPattern): number {
  for (const [at, step] of a.entries()) {
    const other = b[at];
    if (other === undefined) return 1;
    const difference = Number('name' in step) - Number('name' in other);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The parts of a request's path; undefined for one that no pattern takes, since its parts could mean more than they say. */
export function pathSteps(path: string): readonly string[] | undefined {
  if (!path.startsWith('/')) return undefined;
  const steps: string[] = [];
  for (const raw of path.slice(1).split('/')) {
    const step = decoded(raw);
    if (step === undefined || !isPlain(step)) return undefined;
    steps.push(step);
  }
  return steps;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A slash of either kind, a step up, or what no terminal shows: proxies disagree about them. */
function isPlain(step: string): boolean {
  return step !== '' && step !== '.' && step !== '..' && !/[/\\\p{Cc}]/u.test(step);
}

/** What stands at the pattern's arguments; undefined: it takes other paths. */
export function matchPattern(
  pattern: PathPattern,
  steps: readonly string[],
): ReadonlyMap<string, string> | undefined {
  if (pattern.length !== steps.length) return undefined;
  const values = new Map<string, string>();
  for (const [at, step] of pattern.entries()) {
    const said = steps[at] ?? '';
    if ('name' in step) values.set(step.name, said);
    else if (step.literal !== said) return undefined;
  }
  return values;
}
