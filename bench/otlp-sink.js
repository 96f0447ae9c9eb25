// A collector that takes everything and keeps nothing: what telemetry costs is then the gateway's own cost.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end());
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('SIGTERM', () => process.exit(0));
