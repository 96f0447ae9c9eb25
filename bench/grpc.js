// A call over gRPC, beside the same call to a bare server of grpc-js.
import { join } from 'node:path';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { startChild, startGateway } from './children.js';
import { ROUNDS, SECONDS, WARM_UP_SECONDS, compare, number, report } from './measure.js';
import { BODY } from './stores.js';

const ROOT = join(import.meta.dirname, '..');
const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', {
  includeDirs: [join(ROOT, 'proto')],
});
const { ToolExecutorService } = loadPackageDefinition(definition).unified_tool_executor.v1;

/** How many times the tool echo answers in so many seconds, with so many calls in flight. Anything but success ends the benchmark. */
export async function echoes(address, key, seconds, inFlight = 32) {
  const request = { tool: 'echo', argumentsJson: Buffer.from(JSON.stringify(BODY)) };
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  const client = new ToolExecutorService(address, credentials.createInsecure());
  const until = performance.now() + seconds * 1000;
  let count = 0;
  const one = () => new Promise((resolve, reject) => client.Execute(request, metadata, (error, reply) => (error || !reply.ok ? reject(error ?? new Error('not ok')) : resolve()))); // oxfmt-ignore
  const caller = async () => {
    while (performance.now() < until) {
      await one();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  client.close();
  return count;
}

export async function grpc() {
  const bare = await startChild('grpc-echo.js');
  const gateway = await startGateway({ tools: join(ROOT, 'bench/tools.yaml') });
  const of = (address) => async (seconds) => (await echoes(address, gateway.key, seconds)) / seconds;
  const [ours, theirs] = [of(gateway.grpc), of(`127.0.0.1:${bare.message.port}`)];
  for (const side of [ours, theirs]) await side(WARM_UP_SECONDS);
  const { base, own, ratio } = await compare(
    () => theirs(SECONDS),
    () => ours(SECONDS),
    ROUNDS,
  );
  await Promise.all([bare.stop(), gateway.stop()]);
  report(
    'gRPC Execute echo',
    `${number(own)} calls/s`,
    `${number(base)} calls/s (bare grpc-js)`,
    `${number(ratio * 100)} %`,
    '≥ 70 %',
    ratio >= 0.7,
  );
}
