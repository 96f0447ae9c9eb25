// A folder of tools that a test may change as it likes: javascript handlers and one tools file, in a temp dir.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holdThread } from '../../src/lib/timers/hold-thread.ts';

export const ECHO_HANDLER = 'export function execute(args) {\n  return args;\n}\n';

const REMOVE_TRIES = 500;
const REMOVE_PAUSE_MS = 20;

export function tempDir(): string {
  return mkdtempSync(join(tmpdir(), 'ute-tools-'));
}

/**
 * With all that is in it, also where a process that was killed a moment ago is still clearing up there, as a database does: rmSync of
 * Node 24 says nothing then, and leaves the rest.
 */
export function removeDir(dir: string): void {
  for (let tries = 1; ; tries += 1) {
    const isLast = tries === REMOVE_TRIES;
    try {
      rmSync(dir, { recursive: true, force: true });
    } catch (error) {
      if (isLast) throw error;
    }
    if (!existsSync(dir)) return;
    if (isLast) throw new Error(`${dir} cannot be removed: something writes into it`);
    holdThread(REMOVE_PAUSE_MS);
  }
}

/** One javascript tool as YAML, to stand below `tools:`. */
export function javascriptTool(name: string, handler: string): string {
  return [
    `  - name: ${name}`,
    `    description: Test tool ${name}`,
    `    tool_type: javascript`,
    '    input_schema: { additionalProperties: true }',
    `    implementation_config: { handler: ${handler}, trusted: true }`,
    '',
  ].join('\n');
}

export function writeTools(dir: string, ...tools: string[]): string {
  const path = join(dir, 'tools.yaml');
  writeFileSync(path, `tools:\n${tools.join('')}`);
  return path;
}
