// Certificates as openssl makes them: a CA, and what it signs. No key lies in the repository.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Certificate } from './self-signed-certificate.ts';

export interface Authority {
  /** PEM of the CA itself. */
  readonly cert: Buffer;
  /** `subject` as openssl writes it: /CN=a/O=b; `names` as lines of a section of alternative names: DNS.1 = a. */
  readonly sign: (subject: string, names?: readonly string[]) => Certificate;
  readonly remove: () => void;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export function certificateAuthority(): Authority {
  const dir = mkdtempSync(join(tmpdir(), 'ute-ca-'));
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const made = (name: string) => readFileSync(join(dir, name));
  openssl(
    'req',
    '-x509',
    ...KEY,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=a CA of a test',
    '-days',
    '2',
  );
  return {
    cert: made('ca.pem'),
    sign(subject, names = []) {
      openssl('req', ...KEY, '-keyout', 'own.key', '-out', 'own.csr', '-subj', subject);
      const section = names.length === 0 ? '' : `subjectAltName=@names\n[names]\n${names.join('\n')}\n`;
      writeFileSync(join(dir, 'own.ext'), `basicConstraints=CA:FALSE\n${section}`);
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'own.ext'];
      openssl('x509', '-req', '-in', 'own.csr', ...by, '-days', '1', '-out', 'own.pem');
      return { cert: made('own.pem'), key: made('own.key') };
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Settings of a gateway whose clients must show a certificate of this CA; its files, and `ca.pem`, are written into `dir`. */
export function mutualTls(
  authority: Authority,
  dir: string,
  names: readonly string[] = ['IP.1 = 127.0.0.1'],
) {
  const file = (name: string, content: Buffer) => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  const server = authority.sign('/CN=gateway', names);
  return {
    cert_file: file('server.pem', server.cert),
    key_file: file('server.key', server.key),
    client_ca_file: file('ca.pem', authority.cert),
  };
}
