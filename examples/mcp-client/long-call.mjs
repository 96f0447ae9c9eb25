// A long call over MCP: asked for as a task, looked at until it has ended, and its result fetched. The call runs on without this program.
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';

const { UTE_URL = 'http://localhost:8080', UTE_API_KEY } = process.env;
const [tool, args = '{}'] = process.argv.slice(2);

// Of 2025-11-25: there the client says which calls are tasks.
const client = new Client(
  { name: 'example-agent', version: '1.0.0' },
  { versionNegotiation: { mode: 'legacy' } },
);
const requestInit = { headers: { authorization: `Bearer ${UTE_API_KEY}` } };
await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', UTE_URL), { requestInit }));
const ask = (method, params) => client.request({ method, params }, z.looseObject({}));
try {
  const call = { name: tool, arguments: JSON.parse(args), task: {} };
  let { task } = await ask('tools/call', call);
  const { taskId } = task;
  console.log(`${task.status}: ${taskId}`);
  while (task.status === 'working') {
    await pause(task.pollInterval);
    task = await ask('tasks/get', { taskId });
  }
  const { content, isError = false } = await ask('tasks/result', { taskId });
  for (const block of content) console.log(`${task.status}: ${block.text}`);
  process.exitCode = isError ? 1 : 0;
} finally {
  await client.close();
}
