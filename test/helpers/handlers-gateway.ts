// A gateway whose javascript tools are the exports of one module, on few and small threads: for attacks on them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startGateway, type RunningGateway } from './running-gateway.ts';

export interface HandlerTool {
  readonly name: string;
  /** The tool's name where left out. */
  readonly exported?: string;
  readonly timeoutMs: number;
}

export function startHandlers(
  dir: string,
  module: string,
  handlers: readonly HandlerTool[],
): Promise<RunningGateway> {
  writeFileSync(join(dir, 'attacks.js'), module);
  const tools = handlers.map(({ name, exported = name, timeoutMs }) => ({
    name,
    description: name,
    tool_type: 'javascript',
    input_schema: { type: 'object', additionalProperties: true },
    implementation_config: { handler: './attacks.js', export: exported },
    timeout_ms: timeoutMs,
  }));
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools }));
  const settings = { executors: { javascript: { workers: 2, max_old_generation_mb: 64 } } };
  return startGateway({ tools: [join(dir, 'tools.yaml')], settings });
}
