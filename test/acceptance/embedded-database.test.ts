// What a tool can do to the gateway's own database: nothing, on every rung of the sandbox, whether the gateway is root or not.
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPidFile } from '../../src/infra/embedded-postgres/stale-server.ts';
import { isAlive } from '../helpers/gateway-process.ts';
import { callTool, request, targetOf } from '../helpers/rest-client.ts';
import { RUNGS } from '../helpers/rungs.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const SCRIPT = resolve(import.meta.dirname, '../fixtures/database/reach_server.py');
const properties = { home: { type: 'string' }, pid: { type: 'integer' } };
const input_schema = { type: 'object', properties, required: ['home', 'pid'] };

describe.each(RUNGS)('on the rung %s', (_rung, { backends }) => {
  let dir: string;
  let gateway: RunningGateway;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'ute-reach-'));
    chmodSync(dir, 0o755);
    copyFileSync(SCRIPT, join(dir, 'reach_server.py'));
    const tools = [
      {
        name: 'reach_by_shell',
        description: 'Tries to reach the database',
        tool_type: 'shell',
        input_schema: { type: 'object', properties: { script: { type: 'string' } }, required: ['script'] },
        implementation_config: { command: 'python3 -', stdin: '{script}' },
        metadata: { is_dangerous: true },
      },
      {
        name: 'reach_by_python',
        description: 'Tries to reach the database',
        tool_type: 'python',
        input_schema,
        implementation_config: { module: 'reach_server', function_name: 'reach' },
      },
    ];
    writeFileSync(join(dir, 'tools.yaml'), stringify({ tools }));
    gateway = await startGateway({
      tools: [join(dir, 'tools.yaml')],
      settings: {
        extensions: { approval: { mode: 'never' } },
        executors: { shell: { backends }, python: { module_paths: [dir] } },
      },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each(['reach_by_shell', 'reach_by_python'])(
    '%s neither reads its files, nor connects, nor signals it',
    async (tool) => {
      const home = realpathSync(join(gateway.dir, 'data/postgres'));
      const { pid = 0 } = readPidFile(join(home, 'cluster')) ?? {};
      const about = { home, pid };
      const script = `${readFileSync(SCRIPT, 'utf8')}\nprint(json.dumps(reach(${JSON.stringify(home)}, ${pid})))\n`;
      const args = tool === 'reach_by_shell' ? { script } : about;
      const { body } = await callTool(targetOf(gateway), tool, args);
      expect(body.error).toBeUndefined();
      const said = body.data as Record<string, string> & { stdout?: string };
      const tried = said.stdout === undefined ? said : (JSON.parse(said.stdout) as Record<string, string>);
      expect(Object.keys(tried)).toHaveLength(13);
      const { 'signal everything': own, ...others } = tried;
      expect(Object.values(others).filter((outcome) => outcome === 'done')).toEqual([]);
      // In a namespace of its own, everything is what it has started itself.
      expect(own).toMatch(/^(done|PermissionError: .*|ProcessLookupError: .*)$/);
      expect(isAlive(pid)).toBe(true);
      expect(readFileSync(join(home, 'cluster/pg_hba.conf'), 'utf8')).not.toContain('trust');
      expect((await request(targetOf(gateway), 'GET', '/v1/calls')).status).toBe(200);
    },
  );
});
