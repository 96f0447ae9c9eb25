// Short names and the machine's own: what resolv.conf and /etc/hosts say, as the C library reads them.
import { expect, it } from 'vitest';
import { parseHosts } from './hosts-file.ts';
import { parseSearchRules, wholeNames } from './search-rules.ts';

it.each([
  ['', { search: [], ndots: 1 }],
  [
    'nameserver 10.0.0.1\nsearch a.example. b.example # two\n',
    { search: ['a.example', 'b.example'], ndots: 1 },
  ],
  ['search a.example\ndomain b.example\n', { search: ['b.example'], ndots: 1 }],
  ['options timeout:1 ndots:5\n; options ndots:9\n', { search: [], ndots: 5 }],
  ['options ndots:400', { search: [], ndots: 15 }],
  ['options ndots:-1 ndots:x', { search: [], ndots: 1 }],
])('resolv.conf %j', (text, rules) => {
  expect(parseSearchRules(text)).toEqual(rules);
});

it.each([
  ['api', 1, ['api.a.example', 'api.b.example', 'api']],
  ['api.crm', 1, ['api.crm', 'api.crm.a.example', 'api.crm.b.example']],
  ['api.crm', 5, ['api.crm.a.example', 'api.crm.b.example', 'api.crm']],
  ['api.', 5, ['api']],
  ['api', 0, ['api', 'api.a.example', 'api.b.example']],
])('%s with ndots %i is asked for as %j', (name, ndots, names) => {
  expect(wholeNames(name, { search: ['a.example', 'b.example'], ndots })).toEqual(names);
});

it('a name of the hosts file has the addresses of every line that names it', () => {
  const hosts = parseHosts(
    '127.0.0.1 localhost\n::1 localhost ip6-localhost # v6\n10.0.0.9\tCRM crm.example\nx y\n\n10.0.0.9 crm\n',
  );
  expect(hosts.get('localhost')).toEqual(['127.0.0.1', '::1']);
  expect(hosts.get('crm')).toEqual(['10.0.0.9']);
  expect(hosts.get('crm.example')).toEqual(['10.0.0.9']);
  expect(hosts.get('y')).toBeUndefined();
});
