// Serves tools.yaml with its signature and an ETag: all that a source of tools needs.
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const key = process.env.TOOLS_SIGNING_KEY;
if (key === undefined) throw new Error('Set TOOLS_SIGNING_KEY to a secret of at least 16 bytes.');
const file = process.argv[2] ?? new URL('tools.yaml', import.meta.url);
const port = Number(process.argv[3] ?? 8099);

const server = createServer((request, response) => {
  const body = readFileSync(file);
  const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
  if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
  const signature = createHmac('sha256', key).update(body).digest('base64');
  const headers = { 'content-type': 'application/yaml', etag, 'x-ute-signature': signature };
  return response.writeHead(200, headers).end(body);
});
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/tools.yaml`));
