import { expect, it } from 'vitest';
import { metricsAddress } from './metrics-address.ts';

const at = (told: unknown, gateway: string, given?: string) => metricsAddress(given, told, new URL(gateway));

it('what is given goes before what the gateway says', () => {
  expect(at('http://127.0.0.1:9464/metrics', 'http://127.0.0.1:8080', 'http://m:1/x')).toEqual({
    url: 'http://m:1/x',
  });
});

it('is where the gateway says, whatever its ports are', () => {
  expect(at('http://127.0.0.1:19464/metrics', 'http://127.0.0.1:18080')).toEqual({
    url: 'http://127.0.0.1:19464/metrics',
  });
  expect(at('http://10.0.0.7:9464/metrics', 'https://gateway.example.com/ute')).toEqual({
    url: 'http://10.0.0.7:9464/metrics',
  });
});

it('of a gateway that listens on every address, the one that it was asked at is taken', () => {
  for (const [told, gateway, url] of [
    [
      'http://0.0.0.0:9464/metrics',
      'https://gateway.example.com:8443',
      'http://gateway.example.com:9464/metrics',
    ],
    ['http://[::]:9464/metrics', 'http://[::1]:8080', 'http://[::1]:9464/metrics'],
    ['http://0.0.0.0:9464/metrics', 'http://localhost:8080', 'http://localhost:9464/metrics'],
  ] as const)
    expect(at(told, gateway)).toEqual({ url });
});

it("a loopback address of another machine is not asked here, where it is somebody else's", () => {
  for (const told of ['http://127.0.0.1:9464/metrics', 'http://[::1]:9464/metrics'])
    expect(at(told, 'https://gateway.example.com')).toEqual({
      reason: expect.stringMatching(/its own machine alone, on port 9464.*--metrics-url/),
    });
});

it('where the gateway says nothing, or no URL, that is the answer', () => {
  for (const told of [undefined, 7, 'nowhere', 'file:///etc/passwd'])
    expect(at(told, 'http://127.0.0.1:8080')).toEqual({ reason: expect.stringContaining('--metrics-url') });
});
