// An order service over gRPC, with server reflection: what the gateway calls in this example.
//
//   node examples/grpc/server.mjs [port]
import { fileURLToPath } from 'node:url';
import { loadPackageDefinition, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';

const definition = loadSync(fileURLToPath(new URL('orders.proto', import.meta.url)), {
  keepCase: true,
  longs: String,
  enums: String,
});
const { OrderService } = loadPackageDefinition(definition).shop.v1;

const placedAt = { seconds: 1767225600, nanos: 0 };
const orders = new Map([
  ['1', { number: 1, thing: 'tea', count: 2, state: 'STATE_SENT', placed_at: placedAt }],
]);

function found({ number }) {
  const order = orders.get(String(number));
  if (order !== undefined) return order;
  throw Object.assign(new Error(`There is no order ${number}.`), { code: status.NOT_FOUND });
}

function answering(work) {
  return ({ request }, done) => {
    try {
      done(null, work(request));
    } catch (error) {
      done(error);
    }
  };
}

const server = new Server();
server.addService(OrderService.service, {
  GetOrder: answering(found),
  PlaceOrder: answering(({ thing, count }) => {
    if (count < 1 || count > 100)
      throw Object.assign(new Error('count must be 1 to 100.'), { code: status.INVALID_ARGUMENT });
    const order = { number: orders.size + 1, thing, count, state: 'STATE_PLACED', placed_at: placedAt };
    orders.set(String(order.number), order);
    return order;
  }),
  FollowOrder(call) {
    for (const state of ['STATE_PLACED', 'STATE_PACKED', 'STATE_SENT']) call.write({ state });
    call.end();
  },
});
new ReflectionService(definition).addToServer(server);
server.bindAsync(
  `127.0.0.1:${process.argv[2] ?? 50061}`,
  ServerCredentials.createInsecure(),
  (error, port) => {
    if (error) throw error;
    console.log(`orders on 127.0.0.1:${port}`);
  },
);
