// The Python SDK beside the real packages of providers and frameworks, and tools of one's own: test/sdk/python, by pytest.
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../helpers/free-port.ts';
import { installPythonBesideFrameworks, type InstalledPython } from './packages.ts';
import { pytest, PYTEST_WITHIN_MS } from './pytest.ts';
import { scriptedModels, SUM_AND_DELETE } from './scripted-models.ts';
import { SdkGateway } from './sdk-gateway.ts';

const gateway = new SdkGateway();
let installed: InstalledPython;
let port: number;
let models: string;

beforeAll(async () => {
  installed = installPythonBesideFrameworks();
  port = await freePort();
  await gateway.start({ connection: { url: `http://127.0.0.1:${port}`, secret: 'a-secret-of-these-tools' } });
  models = (await scriptedModels(gateway.loopback, SUM_AND_DELETE)).url;
}, 900_000);

afterAll(async () => {
  await gateway.stop();
  if (installed !== undefined) rmSync(installed.dir, { recursive: true, force: true });
});

describe('the Python package', () => {
  it.each(['test_tools.py', 'test_adapters.py'])(
    'passes %s',
    async (file) => {
      const env = { UTE_SDK_TOOLS_PORT: String(port), UTE_SDK_MODELS: models };
      expect(await pytest(file, installed, gateway, env)).toMatch(/\d+ passed/);
    },
    PYTEST_WITHIN_MS,
  );
});
