// The declaration that a tool folder stands for: what schema.json says, with the folder's own files in their places.
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { DOC_FILE, HANDLER_FILE, SCHEMA_FILE, SUMMARY_FILE, type OwnFile } from './folder-files.ts';

export type Path = readonly (string | number)[];

export interface FolderDeclaration {
  readonly value: JsonObject;
  /** Where a path of the value was written: a file of the folder, and the path inside it. */
  readonly writtenAt: (path: Path) => { readonly file: OwnFile; readonly path: Path };
}

export interface SchemaFault {
  /** Inside schema.json. */
  readonly path: Path;
  readonly isKey?: boolean;
  readonly message: string;
}

/** As tool folders spell it, and the path of the declaration that it is. The first spelling is the one that is shown. */
const SPELLINGS: readonly (readonly [written: string, path: readonly [string, ...string[]]])[] = [
  ['toolId', ['name']],
  ['jsonSchema', ['input_schema']],
  ['outputSchema', ['output_schema']],
  ['category', ['metadata', 'category']],
  ['version', ['metadata', 'version']],
  ['requiresConfirmation', ['metadata', 'requires_approval']],
  ['timeoutMs', ['timeout_ms']],
];
const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const ELSEWHERE: Readonly<Record<string, string>> = {
  tool_type: `is always javascript: the code is ${HANDLER_FILE}`,
  actions: 'is for tools of tools.yaml: a folder is one function',
};
/** Of the executor's options, what a folder does not say by itself. */
const CONFIG: ReadonlySet<string> = new Set(['trusted', 'concurrent']);

export function folderDeclaration(
  folder: string,
  schema: JsonObject,
  { summary, documentation }: { readonly summary: string; readonly documentation: string },
): { readonly declaration: FolderDeclaration; readonly faults: readonly SchemaFault[] } {
  const faults: SchemaFault[] = [];
  const rest: { [name: string]: JsonValue } = { ...schema };
  delete rest['$schema'];
  const own = schema['metadata'];
  const metadata: { [name: string]: JsonValue } = isJsonObject(own) ? { ...own } : {};
  const written = new Map<string, string>();
  for (const [spelling, path] of SPELLINGS) {
    const value = rest[spelling];
    if (value === undefined) continue;
    delete rest[spelling];
    const target = path.length === 1 ? rest : metadata;
    const field = path.at(-1) ?? '';
    if (target[field] !== undefined)
      faults.push({
        path: [spelling],
        isKey: true,
        message: `says the same as ${path.join('.')}: give one of them`,
      });
    target[field] = value;
    written.set(path.join('.'), spelling);
  }
  faults.push(...refused(folder, rest, metadata, schema));
  const config = isJsonObject(rest['implementation_config']) ? rest['implementation_config'] : {};
  const description =
    rest['description'] ??
    summary
      .split(/\r?\n/)
      .find((line) => /\S/.test(line))
      ?.trim() ??
    '';
  const value: JsonObject = {
    ...rest,
    name: rest['name'] ?? folder,
    description,
    tool_type: 'javascript',
    implementation_config: { ...config, handler: `./${HANDLER_FILE}`, export: 'execute' },
    metadata: { ...metadata, summary: summary.trim(), documentation: documentation.trim() },
  };
  return { declaration: { value, writtenAt: (path) => writtenAt(path, written) }, faults };
}

function refused(
  folder: string,
  rest: JsonObject,
  metadata: JsonObject,
  schema: JsonObject,
): readonly SchemaFault[] {
  const faults: SchemaFault[] = [];
  const { name, input_schema: input } = rest;
  const nameKey = schema['toolId'] === undefined ? 'name' : 'toolId';
  if (name !== undefined && name !== folder)
    faults.push({
      path: [nameKey],
      message: `is ${JSON.stringify(name)}, and the folder is called "${folder}"`,
    });
  if (input === undefined)
    faults.push({ path: [], message: 'jsonSchema is missing: the JSON Schema of the arguments' });
  for (const field of ['jsonSchema', 'input_schema', 'outputSchema', 'output_schema']) {
    const said = schema[field];
    const draft = isJsonObject(said) ? said['$schema'] : undefined;
    if (draft !== undefined && !(typeof draft === 'string' && DRAFT.test(draft)))
      faults.push({
        path: [field, '$schema'],
        message: 'must be JSON Schema 2020-12: https://json-schema.org/draft/2020-12/schema',
      });
  }
  for (const [field, message] of Object.entries(ELSEWHERE))
    if (rest[field] !== undefined) faults.push({ path: [field], isKey: true, message });
  for (const [field, file] of [
    ['summary', SUMMARY_FILE],
    ['documentation', DOC_FILE],
  ] as const)
    if (metadata[field] !== undefined)
      faults.push({ path: ['metadata', field], isKey: true, message: `comes from ${file}` });
  if (metadata['category'] === undefined)
    faults.push({
      path: [],
      message: 'category is missing: retrieval, action, utility, or a word of your own',
    });
  const config = rest['implementation_config'];
  for (const field of isJsonObject(config) ? Object.keys(config) : [])
    if (!CONFIG.has(field))
      faults.push({
        path: ['implementation_config', field],
        isKey: true,
        message: `is not for a tool folder, which takes ${[...CONFIG].join(' and ')}`,
      });
  return faults;
}

function writtenAt(path: Path, written: ReadonlyMap<string, string>): { file: OwnFile; path: Path } {
  const [first, second] = path;
  if (first === 'metadata' && second === 'summary') return { file: SUMMARY_FILE, path: [] };
  if (first === 'metadata' && second === 'documentation') return { file: DOC_FILE, path: [] };
  if (first === 'implementation_config' && !CONFIG.has(String(second)))
    return { file: HANDLER_FILE, path: [] };
  for (const length of [2, 1]) {
    const spelling = written.get(path.slice(0, length).join('.'));
    if (path.length >= length && spelling !== undefined)
      return { file: SCHEMA_FILE, path: [spelling, ...path.slice(length)] };
  }
  return { file: SCHEMA_FILE, path };
}
