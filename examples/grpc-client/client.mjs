// Calls one tool over gRPC and prints the ExecuteResponse as JSON.
//
//   node examples/grpc-client/client.mjs <tool> '<json>' [--key …] [--address 127.0.0.1:50051]
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: 'string', default: process.env.UTE_API_KEY ?? '' },
    address: { type: 'string', default: '127.0.0.1:50051' },
  },
});
const [tool, json = '{}'] = positionals;
if (tool === undefined) {
  console.error("usage: node client.mjs <tool> '<json>' [--key …] [--address 127.0.0.1:50051]");
  process.exit(2);
}

const definition = loadSync(
  [
    'unified_tool_executor/v1/tool_executor_service.proto',
    'google/rpc/status.proto',
    'google/rpc/error_details.proto',
  ],
  {
    includeDirs: [fileURLToPath(new URL('../../proto/', import.meta.url))],
    keepCase: true,
    longs: Number,
    // Unpacks the google.protobuf.Any in which error details come.
    json: true,
  },
);
const { ToolExecutorService } = loadPackageDefinition(definition).unified_tool_executor.v1;
const client = new ToolExecutorService(values.address, credentials.createInsecure());

const metadata = new Metadata();
if (values.key !== '') metadata.set('authorization', `Bearer ${values.key}`);
const deadline = Date.now() + 30_000;

client.Execute({ tool, arguments_json: Buffer.from(json) }, metadata, { deadline }, (error, response) => {
  console.log(JSON.stringify(error ? failure(error) : answer(response), undefined, 2));
  process.exitCode = error || !response.ok ? 1 : 0;
  client.close();
});

/** The response, with its result in place of the result's JSON text. */
function answer({ data_json: text, ...response }) {
  return text === undefined ? response : { ...response, data: JSON.parse(text.toString()) };
}

/** The gRPC status, with the google.rpc details that came in the trailer. */
function failure({ code, details: message, metadata: trailer }) {
  const [bytes] = trailer.get('grpc-status-details-bin');
  if (bytes === undefined) return { code, message };
  const { details } = definition['google.rpc.Status'].deserialize(bytes);
  return { code, message, details };
}
