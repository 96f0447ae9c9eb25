// A small order service with OAuth: what the tools of this example call. Prints where it listens.
import { createServer } from 'node:http';

const TOKEN = 'token-of-the-order-service';
const ORDERS = [
  { id: 1, customer: 'ada', state: 'open', lines: [{ sku: 'A-1', quantity: 2 }] },
  { id: 2, customer: 'ada', state: 'shipped', lines: [{ sku: 'B-7', quantity: 1 }] },
  { id: 3, customer: 'bob', state: 'open', lines: [] },
];

/** Resolves to the server's URL and a function that ends it. */
export async function startOrderService(port = 0, secret = 'example-client-secret') {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const json = (status, body) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/token') {
      if (clientOf(request.headers.authorization) !== `gateway:${secret}`)
        return json(401, { error: 'invalid_client' });
      return json(200, { access_token: TOKEN, token_type: 'Bearer', expires_in: 3600 });
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return json(401, { error: 'no token' });
    const states = searchParams.getAll('state');
    const customer = /^\/customers\/([^/]+)\/orders$/.exec(pathname)?.[1];
    const orders = ORDERS.filter((order) => order.customer === customer);
    return json(200, {
      orders: orders.filter(({ state }) => states.length === 0 || states.includes(state)),
      debug: { authorization: request.headers.authorization },
    });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

/** The client's id and secret: OAuth has both form-encoded before they become base64. */
function clientOf(header = '') {
  return decodeURIComponent(Buffer.from(header.replace('Basic ', ''), 'base64').toString());
}

if (import.meta.main) {
  const { url } = await startOrderService(Number(process.env.PORT ?? 8099));
  console.log(`orders at ${url}`);
}
