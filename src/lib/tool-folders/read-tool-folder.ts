// One tool folder, read whole: its declaration, and everything that is wrong with it at once, each at its place.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { syntaxFault } from '../json/syntax-fault.ts';
import type { DescribedProblem } from '../text/describe-problem.ts';
import { linesOf, locateIn, parseYaml } from '../tools-yaml/yaml-text.ts';
import { docFaults, summaryFaults } from './docs-faults.ts';
import { folderDeclaration, type FolderDeclaration, type Path } from './folder-declaration.ts';
import {
  DOC_FILE,
  HANDLER_FILE,
  readFolder,
  SCHEMA_FILE,
  SUMMARY_FILE,
  type FolderFiles,
  type OwnFile,
} from './folder-files.ts';
import { handlerFaults } from './handler-faults.ts';

export interface ReadToolFolder {
  readonly folder: FolderFiles;
  readonly problems: readonly DescribedProblem[];
  /** Left out where it cannot be read. */
  readonly tool?: {
    readonly value: JsonObject;
    /** Of all that the declaration is made of; not of the code. */
    readonly contentHash: string;
    readonly locate: (path: Path, what?: 'key' | 'value') => Place;
  };
}

type Place = Pick<DescribedProblem, 'file' | 'line' | 'column'>;

/** Never rejects. */
export async function readToolFolder(root: string, name: string): Promise<ReadToolFolder> {
  const folder = await readFolder(root, name);
  const { texts } = folder;
  const place = placesIn(folder);
  const problems: DescribedProblem[] = [
    ...folder.faults.map((fault) => ({ ...fault, tool: name })),
    ...(texts[SUMMARY_FILE] === undefined ? [] : summaryFaults(texts[SUMMARY_FILE])).map(inFolder(folder)),
    ...(texts[DOC_FILE] === undefined ? [] : docFaults(texts[DOC_FILE], name)).map(inFolder(folder)),
    ...(texts[HANDLER_FILE] === undefined ? [] : handlerFaults(texts[HANDLER_FILE]))
      .map((fault) => ({ ...fault, file: HANDLER_FILE }))
      .map(inFolder(folder)),
  ];
  const schema = readSchema(folder);
  if ('problems' in schema) return { folder, problems: [...problems, ...schema.problems] };
  const words = { summary: texts[SUMMARY_FILE] ?? '', documentation: texts[DOC_FILE] ?? '' };
  const { declaration, faults } = folderDeclaration(name, schema.value, words);
  for (const { path, isKey, message } of faults)
    problems.push({
      ...place(SCHEMA_FILE, path, isKey === true ? 'key' : 'value'),
      tool: name,
      ...pathOf(path),
      message,
    });
  return { folder, problems, tool: located(declaration, folder, place) };
}

function pathOf(path: Path): { readonly path?: string } {
  return path.length === 0 ? {} : { path: path.join('.') };
}

type PlaceIn = (file: OwnFile, path: Path, what: 'key' | 'value') => Place;

function located({ value, writtenAt }: FolderDeclaration, { texts }: FolderFiles, place: PlaceIn) {
  const parts = [SCHEMA_FILE, SUMMARY_FILE, DOC_FILE].map((own) => texts[own as OwnFile] ?? '');
  return {
    value,
    contentHash: hash('sha256', JSON.stringify(parts)),
    locate: (path: Path, what: 'key' | 'value' = 'value'): Place => {
      const { file, path: inside } = writtenAt(path);
      return place(file, inside, what);
    },
  };
}

function placesIn({ path: folder, texts }: FolderFiles): PlaceIn {
  return (file, path, what) => {
    const whole = join(folder, file);
    if (file !== SCHEMA_FILE) return { file: whole, line: 1, column: 1 };
    return locateIn({ file: whole, text: texts[file] ?? '', lineOf: (line) => line }, path, what);
  };
}

function inFolder({ path, name }: FolderFiles) {
  return ({ file, ...fault }: DescribedProblem): DescribedProblem => ({
    ...fault,
    file: join(path, file),
    tool: name,
  });
}

function readSchema({
  path,
  name,
  texts,
}: FolderFiles): { readonly value: JsonObject } | { readonly problems: readonly DescribedProblem[] } {
  const text = texts[SCHEMA_FILE];
  if (text === undefined) return { problems: [] };
  const file = join(path, SCHEMA_FILE);
  const wrong = (offset: number, message: string): DescribedProblem => ({
    ...positionIn(file, text, offset),
    tool: name,
    message,
  });
  const at = syntaxFault(text);
  if (at !== undefined) return { problems: [wrong(at, 'is not valid JSON here')] };
  // What JSON takes and YAML does not is no fault of the file.
  const twice = parseYaml(text).errors.filter(({ code }) => code === 'DUPLICATE_KEY');
  if (twice.length > 0)
    return {
      problems: twice
        .slice(0, 20)
        .map(({ pos }) => wrong(pos[0], 'stands there twice: names must be unique')),
    };
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? { value } : { problems: [wrong(0, 'must be an object')] };
}

function positionIn(file: string, text: string, offset: number): Place {
  const { line, col } = linesOf(text).linePos(offset);
  return { file, line, column: col };
}
