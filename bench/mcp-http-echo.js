// Baseline of the MCP door: the SDK's own server over Streamable HTTP, as its documentation builds one, with one tool that gives a text back.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const inputSchema = z.object({ text: z.string().max(10_000) });

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Return the arguments as they came', inputSchema },
    ({ text }) => ({
      content: [{ type: 'text', text: JSON.stringify({ text }) }],
      structuredContent: { text },
    }),
  );
  return server;
});
const serve = toNodeHandler(handler);
const server = createServer((request, response) => void serve(request, response));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('SIGTERM', () => process.exit(0));
