// Baseline of REST: a bare Fastify server that answers with the JSON it got.
import Fastify from 'fastify';

const app = Fastify();
app.post('/echo', async (request) => request.body);
await app.listen({ port: 0, host: '127.0.0.1' });
process.send({ port: app.server.address().port });
process.on('SIGTERM', () => process.exit(0));
