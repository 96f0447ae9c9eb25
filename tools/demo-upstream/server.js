// The demo's upstream: a tiny JSON server with the weather of a few cities, always the same.

// Not imported: that would read every name of it, and one of them, WebSocket, loads a whole HTTP client.
const { createServer } = process.getBuiltinModule('node:http');

const CELSIUS = new Map([
  ['berlin', { city: 'Berlin', temperature: 12, condition: 'cloudy', humidity: 71 }],
  ['lisbon', { city: 'Lisbon', temperature: 21, condition: 'sunny', humidity: 58 }],
  ['new york', { city: 'New York', temperature: 17, condition: 'windy', humidity: 49 }],
  ['oslo', { city: 'Oslo', temperature: 4, condition: 'snow', humidity: 83 }],
  ['são paulo', { city: 'São Paulo', temperature: 26, condition: 'rain', humidity: 88 }],
]);

/** Listens on loopback; port 0 takes a free one. */
export async function startDemoUpstream(port = 0) {
  const server = createServer((request, response) => {
    request.resume();
    const { status, body } = answer(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  // The gateway that starts this server decides when the process ends.
  server.unref();
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer({ method, url }) {
  const parsed = URL.parse(url, 'http://localhost');
  const [, segment] = /^\/v1\/weather\/([^/]+)$/.exec(parsed?.pathname ?? '') ?? [];
  if (method !== 'GET' || segment === undefined) return { status: 404, body: { error: 'no such path' } };
  const weather = CELSIUS.get(decode(segment).toLowerCase());
  if (weather === undefined) return { status: 404, body: { error: 'unknown city' } };
  const units = parsed.searchParams.get('units') ?? 'celsius';
  if (units !== 'celsius' && units !== 'fahrenheit') {
    return { status: 400, body: { error: 'units must be celsius or fahrenheit' } };
  }
  const temperature = units === 'celsius' ? weather.temperature : Math.round(weather.temperature * 1.8 + 32);
  return { status: 200, body: { ...weather, temperature, units } };
}

function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
