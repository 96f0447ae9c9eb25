// A folder of tools that a test may change as it likes: javascript handlers and one tools file, in a temp dir.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ECHO_HANDLER = 'export function execute(args) {\n  return args;\n}\n';

export function tempDir(): string {
  return mkdtempSync(join(tmpdir(), 'ute-tools-'));
}

export function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
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
