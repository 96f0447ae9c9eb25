// From options to a program: stages of steps in order, each with its expressions compiled. Runs at load, where the faults are.
import type { JsonObject } from '../../contract/json.ts';
import { compileExpression, type Expression, type Names } from './expression.ts';
import { MAX_ITEMS, MAX_STEPS, type CompositeOptions, type StepOptions } from './options.ts';
import { compileTemplate, TemplateFault, type ValueTemplate } from './value-template.ts';

type Path = readonly (string | number)[];

export interface Step {
  readonly id: string;
  readonly tool: string;
  readonly arguments: ValueTemplate;
  readonly when?: Expression;
  readonly forEach?: Expression;
  readonly maxItems: number;
  readonly concurrency: number;
  readonly onError: 'stop' | 'continue';
}

/** Steps that run at the same time: one, or those of a parallel group. */
export interface Stage {
  readonly steps: readonly Step[];
  readonly isGroup: boolean;
}

export interface Program {
  readonly stages: readonly Stage[];
  readonly steps: readonly Step[];
  readonly result?: Expression;
  /** Arguments of the composite that it uses, and where. */
  readonly inputs: readonly { readonly name: string; readonly path: Path }[];
}

/** Something wrong at a path of the options. */
export class StepFault extends Error {
  readonly path: Path;

  constructor(message: string, path: Path) {
    super(message);
    this.name = 'StepFault';
    this.path = path;
  }
}

interface Placed {
  readonly options: StepOptions;
  readonly path: Path;
}

/** Throws StepFault. */
export function compileSteps(options: CompositeOptions): Program {
  const written = options.steps.map((entry, index): readonly Placed[] =>
    'parallel' in entry
      ? entry.parallel.map((step, at) => ({ options: step, path: ['steps', index, 'parallel', at] }))
      : [{ options: entry, path: ['steps', index] }],
  );
  const allSteps = idsOf(written.flat());
  const inputs: { name: string; path: Path }[] = [];
  const ended = new Set<string>();
  const stages = written.map((placed, index) => {
    const names = { steps: new Set(ended), allSteps, hasItem: false };
    const steps = placed.map((one) => compileStep(one, names, inputs));
    for (const { id } of steps) ended.add(id);
    return { steps, isGroup: 'parallel' in (options.steps[index] ?? {}) };
  });
  const names = { steps: ended, allSteps, hasItem: false };
  const result =
    options.result === undefined ? undefined : compileAt(options.result, names, ['result'], inputs);
  return { stages, steps: stages.flatMap(({ steps }) => steps), ...(result && { result }), inputs };
}

function idsOf(placed: readonly Placed[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { options, path } of placed) {
    if (ids.has(options.id))
      throw new StepFault(`the step "${options.id}" is declared twice`, [...path, 'id']);
    ids.add(options.id);
  }
  if (ids.size > MAX_STEPS)
    throw new StepFault(`expected at most ${MAX_STEPS} steps, found ${ids.size}`, ['steps']);
  return ids;
}

function compileStep({ options, path }: Placed, names: Names, inputs: { name: string; path: Path }[]): Step {
  const { id, tool, when, for_each: forEach, max_items: maxItems, concurrency, on_error: onError } = options;
  for (const field of ['max_items', 'concurrency'] as const) {
    if (options[field] !== undefined && forEach === undefined)
      throw new StepFault(`${field} is for a step with for_each`, [...path, field]);
  }
  const whenTrue = when === undefined ? undefined : compileAt(when, names, [...path, 'when'], inputs);
  const list = forEach === undefined ? undefined : compileAt(forEach, names, [...path, 'for_each'], inputs);
  const args = argumentsAt(options.arguments, { ...names, hasItem: list !== undefined }, [
    ...path,
    'arguments',
  ]);
  for (const name of args.inputs) inputs.push({ name, path: [...path, 'arguments'] });
  return {
    id,
    tool,
    arguments: args,
    ...(whenTrue && { when: whenTrue }),
    ...(list && { forEach: list }),
    maxItems: maxItems ?? MAX_ITEMS,
    concurrency: concurrency ?? 1,
    onError,
  };
}

function compileAt(
  text: string,
  names: Names,
  path: Path,
  inputs: { name: string; path: Path }[],
): Expression {
  try {
    const expression = compileExpression(text, names);
    for (const name of expression.inputs) inputs.push({ name, path });
    return expression;
  } catch (error) {
    throw new StepFault((error as Error).message, path);
  }
}

function argumentsAt(args: JsonObject, names: Names, path: Path): ValueTemplate {
  if (Object.hasOwn(args, '$')) {
    const message = 'expected a map of arguments by name: each value, not the whole, may be a reference';
    throw new StepFault(message, path);
  }
  try {
    return compileTemplate(args, names);
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    throw new StepFault(error.message, [...path, ...error.path]);
  }
}
