// A whole document into declarations, with a list of what was left out and why. Pure: reads nothing but its input.
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import { overrideFor, unusedOverrides } from '../../lib/overrides/tool-overrides.ts';
import { listOperations, namesOf, wantedOperations, type Operation } from './document/list-operations.ts';
import { operationLines } from './document/operation-lines.ts';
import { toolOf, type ToolNeeds } from './operation-tool.ts';
import type { OpenApiOptions } from './options.ts';
import { DocumentError, parseDocument } from './document/parse-document.ts';
import { toolNames } from './tool-names.ts';
import { pointerOf, shown, Unusable } from './unusable.ts';

export interface ConvertRequest {
  readonly text: string;
  readonly documentUrl: string | undefined;
  readonly options: OpenApiOptions;
}

export interface ConvertedTool {
  readonly value: JsonObject;
  readonly contentHash: string;
  readonly line: number | undefined;
}

export interface LeftOut {
  /** Method and path. */
  readonly operation: string;
  /** JSON pointer into the document. */
  readonly place: string;
  readonly line?: number | undefined;
  /** Completes "the operation …". */
  readonly reason: string;
}

export interface Converted {
  readonly tools: readonly ConvertedTool[];
  readonly leftOut: readonly LeftOut[];
  /** Operations that became tools, but not with everything. */
  readonly notes: readonly LeftOut[];
  /** Of the tools, those whose schema was cut to fit. */
  readonly cut: number;
  readonly problems: readonly { readonly message: string; readonly line?: number | undefined }[];
}

const MOST_OPERATIONS = 10_000;

/** Never throws for what a document holds. */
export function convertDocument({ text, documentUrl, options }: ConvertRequest): Converted {
  let root: JsonObject;
  try {
    root = parseDocument(text);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return nothing([{ message: error.message, line: error.line }]);
  }
  const { operations: all, unreadable } = listOperations(root);
  const { operations: named, problems } = wantedOperations(all, options);
  const { operations, names, unused } = switchedOn(named, options);
  if (operations.length > MOST_OPERATIONS)
    return nothing([{ message: tooMany(operations.length, all.length) }]);
  const leftOut: LeftOut[] = unreadable.map(({ label, place, reason }) => ({
    operation: label,
    place: pointerOf(place),
    reason,
  }));
  if (problems.length + unused.length > 0)
    return nothing([...problems, ...unused].map((message) => ({ message })));
  const made = convertAll({ operations, names }, text, { root, documentUrl, options });
  const converted = { ...made, leftOut: [...leftOut, ...made.leftOut] };
  return { ...converted, problems: problemsOf(converted, options) };
}

function tooMany(wanted: number, all: number): string {
  const found = wanted === all ? `${all} operations` : `${wanted} operations that the options ask for`;
  return `has ${found}; expected at most ${MOST_OPERATIONS}: say path_prefix, tags or operations`;
}

interface NamedOperations {
  readonly operations: readonly Operation[];
  /** Of the tools, in the same order. */
  readonly names: readonly string[];
}

/** Without those that an override switches off. A name does not depend on which others are on. */
function switchedOn(
  all: readonly Operation[],
  { prefix, overrides }: OpenApiOptions,
): NamedOperations & { readonly unused: readonly string[] } {
  const names = toolNames(all, prefix);
  const known = all.map((operation, index) => [names[index] ?? '', ...namesOf(operation)]);
  const isOn = (index: number) => overrideFor(overrides, known[index] ?? []).off !== true;
  return {
    operations: all.filter((_, index) => isOn(index)),
    names: names.filter((_, index) => isOn(index)),
    unused: unusedOverrides(overrides, known).map(
      (pattern) => `the option overrides names ${shown(pattern)}, which fits no operation`,
    ),
  };
}

type Made = Omit<Converted, 'problems'>;

function convertAll({ operations, names }: NamedOperations, text: string, needs: ToolNeeds): Made {
  const lines = operationLines(text, operations);
  const taken = new Set<string>();
  const tools: ConvertedTool[] = [];
  const leftOut: LeftOut[] = [];
  const notes: LeftOut[] = [];
  let cut = 0;
  for (const [index, operation] of operations.entries()) {
    const name = names[index] ?? '';
    const line = lines[index];
    const about = (reason: string): LeftOut => ({ ...placeOf(operation), line, reason });
    try {
      const { value, isCut, note } = toolOf(operation, name, needs);
      if (taken.has(name)) throw new Unusable(`has the name of another one: ${shown(name)}`);
      taken.add(name);
      tools.push({ value, line, contentHash: hash('sha256', JSON.stringify(value)) });
      if (isCut) cut += 1;
      if (note !== undefined) notes.push(about(note));
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      leftOut.push(about(error.message));
    }
  }
  return { tools, leftOut, notes, cut };
}

/** One odd operation is left out; where nothing is left, or the operator said strict, the document is refused. */
function problemsOf({ tools, leftOut }: Made, { strict }: OpenApiOptions): Converted['problems'] {
  if (tools.length > 0 && !strict) return [];
  if (tools.length === 0 && leftOut.length === 0)
    return [{ message: 'has no operation, or none that the options ask for' }];
  return leftOut.map(({ operation, place, line, reason }) => ({
    message: `the operation ${operation} (${place}) ${reason}`,
    line,
  }));
}

function placeOf({ method, path, place }: Operation): Pick<LeftOut, 'operation' | 'place'> {
  return { operation: `${method} ${path.slice(0, 300)}`, place: pointerOf(place) };
}

function nothing(problems: Converted['problems']): Converted {
  return { tools: [], leftOut: [], notes: [], cut: 0, problems };
}
