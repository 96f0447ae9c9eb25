// Tool folders for tests: whole ones, of which a test changes what it is about.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FolderText {
  readonly schema?: string | object;
  readonly summary?: string;
  readonly doc?: string;
  readonly handler?: string;
}

export const HANDLER = `export function execute({ text = '' }) {\n  return { said: text };\n}\n`;

export function schemaOf(name: string, more: object = {}): object {
  return {
    toolId: name,
    category: 'utility',
    jsonSchema: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false },
    ...more,
  };
}

export function docOf(name: string): string {
  const sections = ['Summary', 'Parameters', 'Returns', 'Errors'].map(
    (title) => `## ${title}\n\nAs it is.\n`,
  );
  return [`# ${name}\n`, ...sections].join('\n');
}

/** Writes all of its files. Gives the folder. */
export function writeToolFolder(root: string, name: string, text: FolderText = {}): string {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  const {
    schema = schemaOf(name),
    summary = `Does ${name}.\nAnd no more.\n`,
    doc = docOf(name),
    handler = HANDLER,
  } = text;
  writeFileSync(
    join(folder, 'schema.json'),
    typeof schema === 'string' ? schema : JSON.stringify(schema, undefined, 2),
  );
  writeFileSync(join(folder, 'doc_summary.md'), summary);
  writeFileSync(join(folder, 'doc.md'), doc);
  writeFileSync(join(folder, 'handler.js'), handler);
  return folder;
}
