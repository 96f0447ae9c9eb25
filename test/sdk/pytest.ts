// Files of test/sdk/python, by pytest, on a running gateway. It runs in this process, which must not be held meanwhile.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { InstalledPython } from './packages.ts';
import type { SdkGateway } from './sdk-gateway.ts';

const TESTS = join(import.meta.dirname, 'python');
export const PYTEST_WITHIN_MS = 240_000;

/** What pytest says. Rejects with it where a test failed. */
export function pytest(
  file: string,
  { python, dir, env }: InstalledPython,
  gateway: SdkGateway,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { url, keys, service } = gateway.running;
  const texts = Object.fromEntries(Object.entries(keys).map(([name, { text }]) => [name, text]));
  const author = gateway.running.key('author').key;
  const given = { url, grpc: service.grpcAddress, network: gateway.network.url, author, ...texts };
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--rootdir', TESTS, join(TESTS, file)];
  const child = spawn(python, args, {
    cwd: dir,
    env: {
      ...process.env,
      ...env,
      ...more,
      UTE_SDK_TEST: JSON.stringify(given),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PYTEST_WITHIN_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(output))));
  });
}
