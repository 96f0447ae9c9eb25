// Registries for tests: npm's protocol on loopback, and a folder of wheels, each with packages that are MCP servers.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import type { LoopbackServers } from './loopback-servers.ts';

/** An MCP server in so many lines: tells what it sees. */
const NODE_SERVER = `#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { createInterface } = require('node:readline');
const tool = { name: 'look', description: 'Tells what it sees.', inputSchema: { type: 'object' } };
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const text = JSON.stringify({ args: process.argv.slice(2), ran: existsSync(__dirname + '/ran'), path: params?.arguments?.path && existsSync(params.arguments.path) });
  const result =
    method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'packed', version: '1' } }
      : method === 'tools/list' ? { tools: [tool] } : { content: [{ type: 'text', text }] };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;

const PYTHON_SERVER = `import json, os, sys

def main():
    for line in sys.stdin:
        asked = json.loads(line)
        if 'id' not in asked:
            continue
        params = asked.get('params') or {}
        if asked['method'] == 'initialize':
            result = {'protocolVersion': params['protocolVersion'], 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'packed', 'version': '1'}}
        elif asked['method'] == 'tools/list':
            result = {'tools': [{'name': 'look', 'description': 'Tells what it sees.', 'inputSchema': {'type': 'object'}}]}
        else:
            result = {'content': [{'type': 'text', 'text': json.dumps({'args': sys.argv[1:]})}]}
        print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)
`;

export interface NpmRegistry {
  readonly url: string;
  /** What was asked for. */
  readonly asked: string[];
}

const PROGRAMS: { readonly [name: string]: object } = {
  'packed-server': { 'packed-server': 'server.js' },
  'two-programs': { one: 'server.js', two: 'server.js' },
};

/** `packed-server` with one program and a script, and `two-programs`; tarballs are made in `dir`. */
export async function npmRegistry(dir: string, loopback: LoopbackServers): Promise<NpmRegistry> {
  const tarballs = new Map(
    Object.entries(PROGRAMS).map(([name, programs]) => [name, tarball(dir, name, programs)]),
  );
  const asked: string[] = [];
  let url = '';
  url = await loopback.listen(
    createServer((request, response) => {
      const [, name = '', file] = (request.url ?? '').split('/');
      asked.push(request.url ?? '');
      const packed = tarballs.get(name);
      if (packed === undefined) {
        response.writeHead(404).end('{}');
        return;
      }
      if (file !== undefined) {
        response.end(packed);
        return;
      }
      const dist = {
        tarball: `${url}/${name}/${name}.tgz`,
        integrity: `sha512-${createHash('sha512').update(packed).digest('base64')}`,
      };
      const version = { ...manifestOf(name, PROGRAMS[name]), dist };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ name, 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version } }),
      );
    }),
  );
  return { url, asked };
}

const manifestOf = (name: string, bin?: object) => ({
  name,
  version: '1.2.3',
  ...(bin !== undefined && { bin }),
  scripts: { postinstall: "node -e \"require('node:fs').writeFileSync('ran', '')\"" },
  hasInstallScript: true,
});

function tarball(dir: string, name: string, bin: object): Buffer {
  const folder = join(dir, name, 'package');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifestOf(name, bin)));
  writeFileSync(join(folder, 'server.js'), NODE_SERVER, { mode: 0o755 });
  const file = join(dir, `${name}.tgz`);
  execFileSync('tar', ['-czf', file, '-C', dirname(folder), 'package']);
  return readFileSync(file);
}

/** A folder with the wheel of `packed-server` 1.2.3, as pip's `--find-links` takes it. */
export function wheelFolder(dir: string): string {
  const folder = join(dir, 'wheels');
  const content = join(dir, 'wheel');
  const about = join(content, 'packed_server-1.2.3.dist-info');
  mkdirSync(about, { recursive: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(content, 'packed_server.py'), PYTHON_SERVER);
  writeFileSync(join(about, 'METADATA'), 'Metadata-Version: 2.1\nName: packed-server\nVersion: 1.2.3\n');
  writeFileSync(
    join(about, 'WHEEL'),
    'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  );
  writeFileSync(join(about, 'entry_points.txt'), '[console_scripts]\npacked-server = packed_server:main\n');
  writeFileSync(join(about, 'RECORD'), '');
  const file = join(folder, 'packed_server-1.2.3-py3-none-any.whl');
  execFileSync(
    'python3',
    ['-m', 'zipfile', '-c', file, 'packed_server.py', 'packed_server-1.2.3.dist-info'],
    { cwd: content },
  );
  return folder;
}
