// A tools.yaml of the tools that one benchmark calls.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** A folder with a tools.yaml of these tools and connections; `gone` removes it. */
export function toolsFile(content) {
  const dir = mkdtempSync(join(tmpdir(), 'ute-bench-tools-'));
  const path = join(dir, 'tools.yaml');
  writeFileSync(path, stringify(content));
  return { path, gone: () => rmSync(dir, { recursive: true, force: true }) };
}

export const READ_ONLY = { read_only: true, idempotent: true };
