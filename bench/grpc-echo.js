// Baseline of gRPC: a bare grpc-js server with the gateway's own messages, answering with the bytes it got.
import { join } from 'node:path';
import { loadPackageDefinition, Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const includeDirs = [join(import.meta.dirname, '../proto')];
const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', { includeDirs });
const { service } = loadPackageDefinition(definition).unified_tool_executor.v1.ToolExecutorService;
const meta = { schemaVersion: '1.0.0', callId: '019a0000-0000-7000-8000-000000000000', tool: 'echo', toolVersion: '1.0.0', executor: 'javascript', durationMs: 0.1, attempts: 1, registryVersion: '1.0.00000000' }; // oxfmt-ignore

const server = new Server();
server.addService(service, {
  Execute: (call, done) => done(null, { ok: true, dataJson: call.request.argumentsJson, meta }),
  ExecuteStream: (call) => call.end(),
  ListTools: (_call, done) => done(null, {}),
  GetTool: (_call, done) => done(null, {}),
  WatchTools: (call) => call.end(),
});
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, port) => process.send({ port }));
process.on('SIGTERM', () => process.exit(0));
