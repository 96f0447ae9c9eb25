// examples/voice-stream: the call as its README shows it, to the word.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openDatabase } from '../helpers/open-database.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const FOLDER = 'examples/voice-stream';
let gateway: RunningGateway;

beforeAll(async () => {
  const { loaders: _own, ...settings } = parse(readFileSync(`${FOLDER}/gateway.yaml`, 'utf8')) as {
    loaders: unknown;
  };
  gateway = await startGateway({ tools: [`${FOLDER}/tools.yaml`], settings });
  await openDatabase(gateway);
});

afterAll(() => gateway?.stop());

it('what is heard is what the README shows', async () => {
  const env = { ...process.env, UTE_URL: gateway.url, UTE_API_KEY: gateway.keys.agent.text };
  const { stdout } = await promisify(execFile)(process.execPath, [`${FOLDER}/call.mjs`], { env });
  const [, shown] = /```text\n(.*?)```/s.exec(readFileSync(`${FOLDER}/README.md`, 'utf8')) ?? [];
  expect(stdout).toBe(shown);
});
