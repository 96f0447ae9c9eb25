// What a call to an MCP server in the sandbox costs beside the SDK's client alone.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { inProcess } from './children.js';
import { compare, number, report } from './measure.js';
import { READ_ONLY, toolsFile } from './tools-file.js';

export async function mcp() {
  const script = join(import.meta.dirname, 'mcp-echo.js');
  const modules = join(import.meta.dirname, '../node_modules');
  const connection = {
    type: 'mcp',
    command: process.execPath,
    args: [script],
    readable: [script, modules],
    memory_bytes: 1 << 30,
  };
  const file = toolsFile({
    connections: { echo: connection },
    tools: [
      {
        name: 'echo',
        description: 'Gives a text back',
        tool_type: 'mcp',
        input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        implementation_config: { connection: 'echo', tool: 'echo' },
        metadata: READ_ONLY,
      },
    ],
  });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [script] }));
  const args = { text: 'the quick brown fox jumps over the lazy dog' };
  const byHand = async () => {
    const count = 10_000;
    let next = 0;
    const caller = async () => {
      while (next < count) {
        next += 1;
        await client.callTool({ name: 'echo', arguments: args });
      }
    };
    const at = performance.now();
    await Promise.all(Array.from({ length: 32 }, caller));
    return (count / (performance.now() - at)) * 1000;
  };
  const run = { tools: file.path, tool: 'echo', args, inFlight: 32, count: 10_000, warmUp: 10_000 };
  await byHand();
  const { base, own, ratio } = await compare(byHand, async () => (await inProcess(run)).perSecond, 3);
  await client.close();
  file.gone();
  report(
    'mcp call over stdio, in the sandbox, 32 in flight',
    `${number(own)} calls/s`,
    `${number(base)} calls/s (the SDK's client alone, no sandbox)`,
    `${number(ratio * 100)} %`,
    '≥ 40 %',
    ratio >= 0.4,
  );
}
