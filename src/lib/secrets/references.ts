// ${env:NAME} and ${file:path} in connections: secrets stay out of the YAML and are put in at load.
import { isAbsolute, resolve } from 'node:path';
import type { JsonValue } from '../json/json-value.ts';
import { hashOf, readSecret } from '../text/read-text.ts';
import { secretParts } from './secret-parts.ts';

export interface ReferenceFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute folder that relative paths start from. */
  readonly baseDir: string;
}

export interface Resolved {
  readonly value: JsonValue;
  readonly faults: readonly ReferenceFault[];
  /** Files that were read, and the hash of what they held: a changed secret is a changed connection. */
  readonly files: ReadonlyMap<string, string>;
  /** What references brought in: secret, wherever it appears. */
  readonly secrets: readonly string[];
}

const REFERENCE = /\$\{([^}]*)\}/g;

export async function resolveReferences(value: JsonValue, sources: ReferenceSources): Promise<Resolved> {
  const faults: ReferenceFault[] = [];
  const files = new Map<string, string>();
  const secrets = new Set<string>();

  /** One after the other, so that faults come in the order of the text. */
  async function resolveValue(inner: JsonValue, path: readonly (string | number)[]): Promise<JsonValue> {
    if (typeof inner === 'string') return resolveText(inner, path);
    if (typeof inner !== 'object' || inner === null) return inner;
    const entries: [string, JsonValue][] = [];
    for (const [key, item] of Object.entries(inner)) {
      entries.push([key, await resolveValue(item, [...path, Array.isArray(inner) ? Number(key) : key])]);
    }
    return Array.isArray(inner) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
  }

  /** What a reference brings in is not looked at again: a secret may hold "${" itself. */
  async function resolveText(text: string, path: readonly (string | number)[]): Promise<string> {
    let resolved = '';
    let at = 0;
    for (const match of text.matchAll(REFERENCE)) {
      const found = await lookUp(match[1] ?? '', path);
      for (const part of secretParts(found)) secrets.add(part);
      resolved += text.slice(at, match.index) + found;
      at = match.index + match[0].length;
    }
    return resolved + text.slice(at);
  }

  async function lookUp(reference: string, path: readonly (string | number)[]): Promise<string> {
    const [kind, name] = splitAtColon(reference);
    if (kind === 'env' && name !== '') {
      const found = sources.env[name];
      if (found === undefined) faults.push({ path, message: `the environment variable ${name} is not set` });
      return found ?? '';
    }
    if (kind === 'file' && name !== '') return lookUpFile(name, path);
    faults.push({ path, message: `expected \${env:NAME} or \${file:path}, found "\${${reference}}"` });
    return '';
  }

  async function lookUpFile(name: string, path: readonly (string | number)[]): Promise<string> {
    const file = isAbsolute(name) ? name : resolve(sources.baseDir, name);
    const read = await readSecret(file);
    files.set(file, hashOf(read));
    if ('message' in read) {
      faults.push({ path, message: `the file ${name} ${read.message}` });
      return '';
    }
    return read.text.replace(/[\r\n]+$/, '');
  }

  const resolved = await resolveValue(value, []);
  secrets.delete('');
  return { value: resolved, faults, files, secrets: [...secrets] };
}

function splitAtColon(reference: string): readonly [string, string] {
  const colon = reference.indexOf(':');
  return colon < 0 ? [reference, ''] : [reference.slice(0, colon), reference.slice(colon + 1).trim()];
}
