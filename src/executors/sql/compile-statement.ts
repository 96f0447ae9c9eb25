// Compiles one tool's statement at load; a call only encodes its arguments.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { SqlStatement } from '../../ports/egress/sql-databases.ts';
import { argumentOf, argumentsOf } from './embedded-arguments.ts';
import { encoderOf, type Violation } from './encode-argument.ts';
import type { SqlOptions, StatementOptions } from './options-schema.ts';
import { readStatement, type StatementText } from './read-statement.ts';

export interface CompiledStatement {
  readonly statement: SqlStatement;
  readonly names: readonly string[];
}

const WRITING: ReadonlySet<string> = new Set(['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt']);

/** Throws Error with a sentence for the operator. */
export function compileStatement(options: StatementOptions, fn: ToolFunction): CompiledStatement {
  const { statement: source = '', writes = false } = options;
  if (writes && fn.spec.metadata.readOnly) {
    throw new Error('writes: true needs a tool that is not read_only; metadata.read_only is true here.');
  }
  if (!writes && options.conflict_retries !== undefined)
    throw new Error('conflict_retries is for statements that write: say writes: true, or leave it out.');
  const read = readStatement(source);
  refuseKind(read, writes);
  refuseLostParameters(read, fn);
  const { text, names } = read;
  return { statement: { text, parameterCount: names.length, writes }, names };
}

/** Gives what a call's arguments are on the wire. Throws ToolFailure VALIDATION, reason UNSAFE_ARGUMENT. */
export function compileArguments(
  names: readonly string[],
  types: readonly string[],
): (args: JsonObject) => readonly (string | null)[] {
  const slots = names.map((name, index) => ({ name, encode: encoderOf(types[index] ?? 'text') }));
  return (args) => {
    const violations: Violation[] = [];
    const values = slots.map(({ name, encode }) => encode(args[name] ?? null, name, violations));
    if (violations.length === 0) return values;
    throw toolFailure('UNSAFE_ARGUMENT', 'An argument cannot be a parameter of the statement.', {
      partialSideEffects: false,
      details: { violations: violations.map(({ pointer, message }) => ({ pointer, message })) },
    });
  };
}

/** The one statement, or the action's. */
export function statementOptionsOf(
  { actions, connection: _connection, ...own }: SqlOptions,
  { action }: ToolFunction,
): StatementOptions {
  if (action === undefined) {
    if (actions === undefined) return own;
    throw new Error('implementation_config.actions is given, but the tool declares no actions.');
  }
  const found =
    actions !== undefined && Object.hasOwn(actions, action.name) ? actions[action.name] : undefined;
  if (found !== undefined) return found;
  throw new Error(`implementation_config.actions has no statement for the action "${action.name}".`);
}

/** Every place of the options that takes an argument. */
export function placeholdersOf({ actions, statement }: SqlOptions) {
  const at = (text: string | undefined, path: readonly string[]) =>
    text === undefined ? [] : argumentsOf(readStatement(text).names).map((name) => ({ name, path }));
  if (actions === undefined) return at(statement, ['statement']);
  return Object.entries(actions).flatMap(([name, action]) =>
    at(action.statement, ['actions', name, 'statement']),
  );
}

function refuseKind({ kind, modifies }: StatementText, writes: boolean): void {
  if (kind !== 'SelectStmt' && !WRITING.has(kind)) {
    throw new Error(
      `statement: expected SELECT, WITH, VALUES or TABLE, or with writes: true INSERT, UPDATE, DELETE or MERGE; found a ${kind}.`,
    );
  }
  if (modifies && !writes)
    throw new Error('statement: it changes or locks rows, and a statement that does so needs writes: true.');
}

function refuseLostParameters(
  { names, bracedInLiterals }: StatementText,
  { inputSchema }: ToolFunction,
): void {
  const properties = inputSchema['properties'];
  const parameters = isJsonObject(properties) ? Object.keys(properties) : [];
  const quoted = [...bracedInLiterals].find((name) => parameters.includes(argumentOf(name) ?? ''));
  if (quoted !== undefined) {
    throw new Error(
      `statement: {${quoted}} stands inside quotes, where it is text: write it without them, as in 'a' || {${quoted}}.`,
    );
  }
  const used = argumentsOf(names);
  const unused = parameters.filter((name) => !used.includes(name));
  if (unused.length > 0) {
    throw new Error(`The parameters ${unused.join(', ')} stand nowhere in the statement.`);
  }
}
