// Egress rules: which hosts a pattern names, and what is not a pattern or a range at all.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cidrProblem, egressFault, egressOf, hostPatternProblem, portProblem } from './egress.ts';

const ANY_PORT = ['1-65535'];
const isHostAllowed = (allowHosts: string[], url: URL) =>
  egressFault({ allowHosts, allowPorts: ANY_PORT }, url) === undefined;

describe('allowed hosts', () => {
  it.each([
    ['api.example.com', 'https://api.example.com/', true],
    ['API.Example.com', 'https://api.example.COM./', true],
    ['api.example.com', 'http://api.example.com:8080/', true],
    ['api.example.com:443', 'https://api.example.com/', true],
    ['api.example.com:443', 'http://api.example.com/', false],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['*.example.com', 'https://evilexample.com/', false],
    ['[::1]:80', 'http://[0:0::1]/', true],
    ['127.0.0.1', 'http://2130706433/', true],
    ['127.0.0.1', 'http://127.0.0.2/', false],
  ])('%s for %s: %s', (pattern, url, allowed) => {
    expect(isHostAllowed([pattern], new URL(url))).toBe(allowed);
  });

  it('lets nothing through that is not below the wildcard’s domain, for any host', () => {
    fc.assert(
      fc.property(fc.domain(), (host) => {
        const allowed = isHostAllowed(['*.example.com'], new URL(`https://${host}/`));
        expect(allowed).toBe(host.toLowerCase().endsWith('.example.com'));
        expect(isHostAllowed(['*.example.com'], new URL(`https://${host}.example.com/`))).toBe(true);
      }),
    );
  });
});

describe('what is refused at load', () => {
  it.each([
    '',
    '*',
    '*.',
    '*..',
    '*.:80',
    '*example.com',
    'https://a.example',
    'a.example/x',
    'a.example:99999',
    'a*.b',
    'u@a.example',
    '.a',
    'a.example:0',
  ])('the host %j', (pattern) => {
    expect(hostPatternProblem(pattern)).toContain('Expected a host');
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10/8',
    'fd00::/129',
    '0x0a.0.0.0/8',
    'localhost/8',
    '10.0.0.0/-1',
    '',
  ])('the range %j', (range) => {
    expect(cidrProblem(range)).toContain('Expected an address range');
  });

  it('but not what is meant', () => {
    const patterns = ['a.example', '*.a.example:8443', '[fd00::1]', '10.0.0.1:80', 'localhost'];
    expect(patterns.map(hostPatternProblem)).toEqual(patterns.map(() => undefined));
    expect(['10.0.0.0/8', '::1/128', '::ffff:10.0.0.0/104'].map(cidrProblem)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

it('the policy of a URL alone is its host with its port', () => {
  expect(egressOf({}, new URL('https://a.example/x'))).toEqual({
    allowHosts: ['a.example:443'],
    allowPorts: [],
    allowPrivate: [],
  });
  const said = { allow_hosts: ['*.example'], allow_ports: [8443], allow_private: ['10.0.0.0/8'] };
  expect(egressOf(said, new URL('http://a.example'))).toEqual({
    allowHosts: ['*.example'],
    allowPorts: [8443],
    allowPrivate: ['10.0.0.0/8'],
  });
});

describe('ports', () => {
  it.each<[readonly string[], readonly (number | string)[], string, 'host' | 'port' | undefined]>([
    [['a.example'], [], 'http://a.example/', undefined],
    [['a.example'], [], 'https://a.example/', undefined],
    [['a.example'], [], 'http://a.example:22/', 'port'],
    [['a.example'], [22], 'http://a.example:22/', undefined],
    [['a.example'], ['8000-8999', 22], 'http://a.example:8443/', undefined],
    [['a.example'], ['8000-8999'], 'http://a.example:9000/', 'port'],
    [['a.example:8443'], [], 'https://a.example:8443/', undefined],
    [['a.example:8443', 'b.example'], [], 'https://b.example:8443/', 'port'],
    [['a.example:8443'], [9000], 'https://a.example:9000/', 'port'],
    [['b.example'], [22], 'http://a.example:22/', 'host'],
    [[], [], 'http://a.example:22/', 'port'],
    [[], [22], 'http://a.example:22/', undefined],
    [['a.example'], ['1-65535'], 'http://a.example:0/', 'port'],
    [[], ['0-65535'], 'http://a.example:0/', 'port'],
  ])('with hosts %j and ports %j: %s', (allowHosts, allowPorts, url, fault) => {
    expect(egressFault({ allowHosts, allowPorts }, new URL(url))).toBe(fault);
  });

  it('the port of a URL alone does not open itself', () => {
    const url = new URL('http://a.example:6379/');
    expect(egressFault(egressOf({}, url), url)).toBe('port');
    expect(portProblem(egressOf({}, url), url, 'The url')).toBe(
      'The url leads to port 6379. Only 80 and 443 are reached unless others are listed: add allow_ports: [6379].',
    );
    expect(egressFault(egressOf({ allow_ports: [6379] }, url), url)).toBeUndefined();
  });
});
