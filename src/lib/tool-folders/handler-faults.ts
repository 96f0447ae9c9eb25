// The handler of a tool folder, by its text alone: whether it is a module, exports `execute`, and imports nothing from elsewhere.
import { parse, type AnyNode, type Literal, type ModuleDeclaration, type Program } from 'acorn';

export interface CodeFault {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const EXECUTE = 'execute';
const NO_FUNCTION: ReadonlySet<string> = new Set(['Literal', 'TemplateLiteral', 'ObjectExpression', 'ArrayExpression', 'ClassExpression']); // oxfmt-ignore

/** Nothing of it runs. What `export * from` brings is left to whoever loads it. */
export function handlerFaults(text: string): readonly CodeFault[] {
  let program: Program;
  try {
    program = parse(text, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      locations: true,
      allowHashBang: true,
    });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { line = 1, column = 0 } = (error as { loc?: { line: number; column: number } }).loc ?? {};
    return [
      {
        line,
        column: column + 1,
        message: `is no JavaScript module: ${error.message.replace(/ \(\d+:\d+\)$/, '')}`,
      },
    ];
  }
  return [...exportFaults(program), ...outsideImports(program)];
}

function exportFaults({ body }: Program): readonly CodeFault[] {
  const exported = body.flatMap((node) => exportsOf(node as ModuleDeclaration));
  const own = exported.find(({ name }) => name === EXECUTE);
  if (own === undefined && body.some(({ type }) => type === 'ExportAllDeclaration')) return [];
  if (own?.isFunction === true) return [];
  const names = exported.map(({ name }) => name);
  const has = names.length === 0 ? 'it exports nothing' : `it exports ${names.slice(0, 20).join(', ')}`;
  const { line = 1, column = 1 } = own ?? {};
  return [
    {
      line,
      column,
      message: own === undefined ? `exports no function ${EXECUTE}: ${has}` : `${EXECUTE} must be a function`,
    },
  ];
}

interface Exported {
  readonly name: string;
  readonly isFunction: boolean;
  readonly line: number;
  readonly column: number;
}

function exportsOf(node: ModuleDeclaration): readonly Exported[] {
  if (node.type !== 'ExportNamedDeclaration') return [];
  const { declaration, specifiers } = node;
  const named = specifiers.map(({ exported, loc }) => ({
    name: exported.type === 'Identifier' ? exported.name : String(exported.value),
    isFunction: true,
    ...placeOf(loc),
  }));
  if (declaration === null || declaration === undefined) return named;
  if (declaration.type !== 'VariableDeclaration') {
    const isFunction = declaration.type === 'FunctionDeclaration';
    return [{ name: declaration.id.name, isFunction, ...placeOf(declaration.loc) }];
  }
  return declaration.declarations.flatMap(({ id, init, loc }) =>
    id.type === 'Identifier'
      ? [
          {
            name: id.name,
            isFunction: init !== null && init !== undefined && !NO_FUNCTION.has(init.type),
            ...placeOf(loc),
          },
        ]
      : [],
  );
}

/** Static ones, and dynamic ones of a text. */
function outsideImports(program: Program): readonly CodeFault[] {
  const faults: CodeFault[] = [];
  const open: unknown[] = [program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (Array.isArray(node)) open.push(...(node as unknown[]));
    else if (typeof node === 'object' && node !== null) {
      const source = sourceOf(node as AnyNode);
      if (source !== undefined && isOutside(source.value))
        faults.push({
          ...placeOf(source.loc),
          message: `imports ${String(source.value)}, which lies outside the folder: what a tool runs belongs to its version`,
        });
      open.push(...Object.values(node).filter((value) => typeof value === 'object'));
    }
  }
  return faults;
}

function sourceOf(node: AnyNode): Literal | undefined {
  if (!('source' in node)) return undefined;
  const { source } = node;
  return typeof source === 'object' && source !== null && source.type === 'Literal' ? source : undefined;
}

function isOutside(specifier: unknown): boolean {
  return typeof specifier === 'string' && /^(?:\.\.\/|\/|file:|\.\/(?:[^?#]*\/)?\.\.\/)/.test(specifier);
}

function placeOf(
  loc: { readonly start: { readonly line: number; readonly column: number } } | null | undefined,
) {
  return { line: loc?.start.line ?? 1, column: (loc?.start.column ?? 0) + 1 };
}
