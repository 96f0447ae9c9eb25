// Providers in gateway.yaml: what may stand there, and where each fault is.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from './load-settings.ts';
import { SettingsError } from './problems/settings-error.ts';
import { oauthUrlProblem } from './oauth-settings.ts';

let dir: string;

beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'ute-oauth-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function problemsOf(provider: string, more = '') {
  const file = join(dir, 'gateway.yaml');
  writeFileSync(file, `oauth:\n${more}  providers:\n    google: ${provider}\n`);
  try {
    loadSettings({ UTE_CONFIG: file }, dir);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

const GOOD = 'issuer: "https://id.example.com", client_id: x, hosts: [api.example.com]';

describe('a provider', () => {
  it.each([
    GOOD,
    `${GOOD}, client_secret: "\${env:SECRET}"`,
    'authorization_endpoint: "https://id.example.com/a", token_endpoint: "http://127.0.0.1:9/t", client_id: x, hosts: ["*.example.com"]',
  ])('may be {%s}', (text) => {
    expect(problemsOf(`{ ${text} }`)).toEqual([]);
  });

  it.each([
    ['client_id: x, hosts: [a.example]', 'issuer', 'is needed, or'],
    ['issuer: "http://id.example.com", client_id: x, hosts: [a.example]', 'issuer', 'https'],
    ['issuer: "https://u:p@id.example.com", client_id: x, hosts: [a.example]', 'issuer', 'without user'],
    ['issuer: "https://id.example.com", client_id: x', 'hosts', ''],
    ['issuer: "https://id.example.com", client_id: x, hosts: []', 'hosts', ''],
    [
      'issuer: "https://id.example.com", client_id: x, hosts: ["https://a.example"]',
      'hosts.0',
      'Expected a host',
    ],
    [`${GOOD}, client_secret: hunter2`, 'client_secret', 'reference'],
    [`${GOOD}, token_endpoint_auth_method: client_secret_post`, 'client_secret', 'is needed'],
    [
      `${GOOD}, authorization_parameters: { redirect_uri: "https://evil.example" }`,
      'authorization_parameters',
      'is set by the gateway itself',
    ],
    [`${GOOD}, token_endpoint: "https://id.example.com/t"`, 'token_endpoint', 'or neither'],
    [`${GOOD}, scopes: ["a b"]`, 'scopes.0', 'one scope'],
    [`${GOOD}, secret: x`, 'secret', 'unknown key'],
  ])('{ %s } is told at its place', (text, path, message) => {
    const found = problemsOf(`{ ${text} }`).find((each) =>
      each.path?.startsWith(`oauth.providers.google.${path}`),
    );
    expect(found).toMatchObject({
      line: 3,
      column: expect.any(Number),
      message: expect.stringContaining(message),
    });
  });

  it('no secret that was written out is in a message', () => {
    expect(JSON.stringify(problemsOf(`{ ${GOOD}, client_secret: hunter2 }`))).not.toContain('hunter2');
  });
});

it('the public URL is https, without a query', () => {
  expect(problemsOf(`{ ${GOOD} }`, '  public_url: http://tools.example.com\n')).toMatchObject([{ line: 2 }]);
  expect(problemsOf(`{ ${GOOD} }`, '  public_url: https://tools.example.com/?x=1\n')).toMatchObject([
    { line: 2 },
  ]);
});

it.each(['javascript:alert(1)', 'data:text/html,x', 'https://a.example/#x', 'file:///etc/passwd', 'x'])(
  '%s is no address for credentials',
  (text) => {
    expect(oauthUrlProblem(text)).toBeDefined();
  },
);
