// An agent's side of MCP: finds the tools that its key may call, and calls one. The official client, and nothing else.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { UTE_URL = 'http://localhost:8080', UTE_API_KEY } = process.env;
const [tool, args = '{}'] = process.argv.slice(2);

const client = new Client(
  { name: 'example-agent', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' } },
);
const requestInit = { headers: { authorization: `Bearer ${UTE_API_KEY}` } };
await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', UTE_URL), { requestInit }));
try {
  if (tool === undefined) {
    const { tools } = await client.listTools();
    for (const { name, description } of tools) console.log(`${name}: ${description.split('\n')[0]}`);
  } else {
    const { content, isError = false } = await client.callTool({ name: tool, arguments: JSON.parse(args) });
    for (const block of content) console.log(block.type === 'text' ? block.text : `[${block.type}]`);
    process.exitCode = isError ? 1 : 0;
  }
} finally {
  await client.close();
}
