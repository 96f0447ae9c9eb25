// A connection as it stands in a file of tools, with the secrets that its references bring in.
import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { resolveReferences } from '../secrets/references.ts';
import type { DescribedProblem } from '../text/describe-problem.ts';
import type { ParsedConnection } from './parse-whole.ts';
import type { Path, Place } from './yaml-text.ts';

interface ResolvedConnection {
  readonly name: string;
  readonly value: JsonObject;
  readonly resolved: JsonObject;
  readonly secrets: readonly string[];
  readonly contentHash: string;
  readonly baseDir: string;
  readonly locate: (path: Path, what?: 'key' | 'value') => Place;
}

export interface MadeConnection {
  /** Left out where there are problems. */
  readonly connection?: ResolvedConnection;
  readonly problems: readonly DescribedProblem[];
  /** Files that references read, and the hash of what they held. */
  readonly files: ReadonlyMap<string, string>;
}

/** `baseDir`: absolute folder that relative paths start from. */
export async function resolveConnection(parsed: ParsedConnection, baseDir: string): Promise<MadeConnection> {
  const { name, value, locate } = parsed;
  const path = `connections.${name}`;
  if (!isJsonObject(value)) {
    const message = 'expected a map with a type and the settings of that type';
    return { problems: [{ ...locate([]), path, message }], files: new Map() };
  }
  const { faults, files, secrets, ...read } = await resolveReferences(value, { env: process.env, baseDir });
  const problems = faults.map((fault) => ({
    ...locate(fault.path),
    path: [path, ...fault.path].join('.'),
    message: fault.message,
  }));
  if (!isJsonObject(read.value) || problems.length > 0) return { problems, files };
  const contentHash = hash('sha256', JSON.stringify([name, value, read.value]));
  const connection = { name, value, resolved: read.value, secrets, contentHash, baseDir, locate };
  return { connection, problems, files };
}
